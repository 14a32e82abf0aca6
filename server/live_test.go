package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// smallBuffers makes connections which hold back little, so that a reader that
// does not read is noticed soon.
type smallBuffers struct{ net.Listener }

func (l smallBuffers) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		err = errors.Join(err, tcp.SetWriteBuffer(64<<10))
	}
	return c, err
}

func newLiveServer(t *testing.T, core Core, o Options) *testServer {
	t.Helper()
	s := New(core, o)
	h := httptest.NewUnstartedServer(s.Handler())
	h.Listener = smallBuffers{h.Listener}
	h.Start()
	t.Cleanup(h.Close)
	return &testServer{Server: s, url: h.URL}
}

func dialer() *websocket.Dialer { return &websocket.Dialer{Subprotocols: []string{protocolJSON}} }

func (s *testServer) dial(t *testing.T, query string, header http.Header) *websocket.Conn {
	t.Helper()
	conn, resp, err := dialer().DialContext(t.Context(), "ws"+strings.TrimPrefix(s.url, "http")+"/ws"+query, header)
	if err != nil {
		t.Fatalf("dial %s: %v", query, err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	closeAtEnd(t, conn)
	return conn
}

func token() http.Header { return http.Header{"Authorization": {"Bearer " + testToken}} }

// received is a frame as a program reads it.
type received struct {
	Transition *struct {
		Seq  uint64
		Push struct{ Because string }
	}
	Gap *journal.Gap
}

func read(conn *websocket.Conn) (received, error) {
	var f received
	if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return f, err
	}
	_, text, err := conn.ReadMessage()
	if err != nil {
		return f, err
	}
	err = json.Unmarshal(text, &f)
	return f, err
}

func mustRead(t *testing.T, conn *websocket.Conn) received {
	t.Helper()
	f, err := read(conn)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// expect reads transitions and wants them in order, without a gap.
func expect(conn *websocket.Conn, from, to uint64) error {
	for seq := from; seq <= to; seq++ {
		if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
			return err
		}
		_, text, err := conn.ReadMessage()
		if err != nil {
			return fmt.Errorf("waiting for %d: %w", seq, err)
		}
		// Hundreds of readers would spend the time of the test in decoding.
		if !bytes.HasPrefix(text, fmt.Appendf(nil, `{"transition":{"seq":%d,`, seq)) {
			return fmt.Errorf("waiting for %d: got %.60s", seq, text)
		}
	}
	return nil
}

func TestSlowReaderCostsNobodyElse(t *testing.T) {
	const readers, size, batch, batches = 200, 64, 32, 8
	core := newFakeCore()
	core.journal = journal.New(size)
	s := newLiveServer(t, core, Options{Token: testToken})
	var fast []*websocket.Conn
	for range readers - 1 {
		fast = append(fast, s.dial(t, "?since=1", token()))
	}
	slow := s.dial(t, "?since=1", token())

	because := strings.Repeat("x", 4<<10)
	for b := range uint64(batches) {
		for range batch {
			core.append(because)
		}
		var wg sync.WaitGroup
		for i, conn := range fast {
			wg.Go(func() {
				if err := expect(conn, b*batch+1, (b+1)*batch); err != nil {
					t.Errorf("reader %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		if t.Failed() {
			t.FailNow()
		}
	}

	last, gap := uint64(0), (*journal.Gap)(nil)
	for last < batch*batches {
		f := mustRead(t, slow)
		if f.Gap != nil {
			if gap != nil || f.Gap.From != last+1 {
				t.Fatalf("after %d: gap %+v, before it %+v", last, f.Gap, gap)
			}
			gap, last = f.Gap, f.Gap.To
			continue
		}
		if f.Transition.Seq != last+1 {
			t.Fatalf("after %d: got %d", last, f.Transition.Seq)
		}
		last++
	}
	if gap == nil {
		t.Fatal("the slow reader was told of no gap")
	}
	if s.live.readers() != readers {
		t.Errorf("%d readers, want %d", s.live.readers(), readers)
	}
}

func TestReaderResumesWithSince(t *testing.T) {
	core := newFakeCore()
	core.append("second")
	core.append("third")
	s := newLiveServer(t, core, Options{Token: testToken})
	if err := expect(s.dial(t, "?since=2", token()), 2, 3); err != nil {
		t.Error(err)
	}
	fresh := s.dial(t, "", token())
	core.append("fourth")
	if err := expect(fresh, 4, 4); err != nil {
		t.Errorf("without since: %v", err)
	}
	if f := mustRead(t, s.dial(t, "?since=100", token())); f.Gap == nil || f.Gap.From != 100 {
		t.Errorf("since the future: %+v, want a gap", f)
	}
}

func TestReaderFilters(t *testing.T) {
	core := newFakeCore()
	web := model.ServiceKey{Hostname: "web.shop.svc.cluster.local", Namespace: "shop"}
	before := &model.Candidate{Address: "10.0.0.9", Endpoint: &model.Endpoint{Addresses: []string{"10.0.0.9"}}}
	core.journal.Append(&journal.Transition{
		Prev: core.snap, Next: core.snap, Push: journal.Push{Scope: state.IncrementalScope(web), Because: "wanted"},
		Diff: &state.Diff{Services: []state.ServiceChange{{
			Key: web, Prev: core.snap.Service(web), Next: core.snap.Service(web), Endpoints: []state.EndpointChange{{Before: before}},
		}}},
	})
	core.append("last")
	s := newLiveServer(t, core, Options{Token: testToken})
	for query, want := range map[string]bool{
		"namespace=shop": true, "namespace=other": false, "service=web": true, "service=web.shop.svc.cluster.local": true,
		"service=shop/web.shop.svc.cluster.local": true, "service=we": false, "address=10.0.0.9": true, "address=10.0.0.9:8080": true, "address=10.0.0": false,
		"push=incremental": true, "push=none": false, "proxy=web-0.shop": true, "proxy=nobody.shop": false,
		"namespace=shop&address=10.0.0.9": true, "namespace=shop&push=full": false,
	} {
		a := do(t, client(), http.MethodGet, s.url+"/api/v1/transitions?"+query, bearer)
		if got := strings.Contains(a.body, "wanted"); got != want {
			t.Errorf("%s: passes %t, want %t", query, got, want)
		}
	}
	conn := s.dial(t, "?since=1&namespace=shop", token())
	if f := mustRead(t, conn); f.Transition == nil || f.Transition.Push.Because != "wanted" {
		t.Errorf("got %+v, want the transition of the namespace", f)
	}
	if a := do(t, client(), http.MethodGet, s.url+"/api/v1/transitions?push=half", bearer); a.StatusCode != http.StatusBadRequest {
		t.Errorf("push=half: %d, want 400", a.StatusCode)
	}
}

func TestLogoutEndsFeed(t *testing.T) {
	s := newLiveServer(t, newFakeCore(), Options{})
	c := s.logIn(t)
	cookies := do(t, c, http.MethodGet, s.url+"/healthz", nil).Request.Header.Get("Cookie")
	conn := s.dial(t, "?since=1", http.Header{"Cookie": {cookies}, "Origin": {s.url}})
	mustRead(t, conn)
	do(t, c, http.MethodPost, s.url+"/logout", func(r *http.Request) { r.Header.Set("Origin", s.url) })
	_, err := read(conn)
	if !websocket.IsCloseError(err, websocket.ClosePolicyViolation) {
		t.Errorf("after logout: %v, want a policy violation", err)
	}
}

func TestReaderIsRefused(t *testing.T) {
	s := newLiveServer(t, newFakeCore(), Options{Token: testToken})
	for name, tt := range map[string]struct {
		query  string
		header http.Header
		proto  string
		want   int
	}{
		"anonymous":         {"", nil, protocolJSON, http.StatusForbidden},
		"anonymous of ours": {"", http.Header{"Origin": {s.url}}, protocolJSON, http.StatusUnauthorized},
		"evil origin":       {"", http.Header{"Origin": {"http://evil.example"}, "Authorization": token()["Authorization"]}, protocolJSON, http.StatusForbidden},
		"other protocol":    {"", token(), "edsight.v2", http.StatusBadRequest},
		"bad since":         {"?since=yesterday", token(), protocolJSON, http.StatusBadRequest},
		"bad push":          {"?push=half", token(), protocolJSON, http.StatusBadRequest},
	} {
		d := dialer()
		d.Subprotocols = []string{tt.proto}
		_, resp, err := d.DialContext(t.Context(), "ws"+strings.TrimPrefix(s.url, "http")+"/ws"+tt.query, tt.header)
		if err == nil || resp == nil || resp.StatusCode != tt.want {
			t.Errorf("%s: %v %v, want %d", name, resp, err, tt.want)
		}
		if resp != nil {
			if err := resp.Body.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestReadersAreCapped(t *testing.T) {
	l := newLive(New(newFakeCore(), Options{}))
	for i := range maxSessionReaders {
		if !l.enter("one") {
			t.Fatalf("reader %d of one session is refused", i)
		}
	}
	if l.enter("one") {
		t.Error("one session has more readers than it may have")
	}
	for l.enter(fmt.Sprint(l.readers())) {
	}
	if l.readers() != maxReaders {
		t.Errorf("%d readers, want %d", l.readers(), maxReaders)
	}
	l.leave("one")
	if !l.enter("one") {
		t.Error("a place that has become free is not given")
	}
}

func TestReaderIsEndedWhenSessionExpires(t *testing.T) {
	now := time.Unix(1700000000, 0)
	s := New(newFakeCore(), Options{Now: func() time.Time { return now }})
	_, sess := s.sessions.start()
	rd := &reader{server: s, identity: sess.identity()}
	now = now.Add(sessionLifetime)
	if err := rd.pingIfDue(); !errors.Is(err, errOver) {
		t.Errorf("got %v, want that the session is over", err)
	}
}

func TestFrameIsEncodedOnce(t *testing.T) {
	var mu sync.Mutex
	count := map[uint64]int{}
	r := &ring[int]{build: func(t *journal.Transition) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		count[t.Seq]++
		return count[t.Seq], nil
	}}
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			for seq := range uint64(100) {
				if _, err := r.get(&journal.Transition{Seq: seq}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for seq, n := range count {
		if n != 1 {
			t.Errorf("transition %d was encoded %d times", seq, n)
		}
	}
	if _, err := r.get(&journal.Transition{Seq: frameRing + 1}); err != nil || len(count) != 101 {
		t.Errorf("the slot is not taken over: %v", err)
	}
}
