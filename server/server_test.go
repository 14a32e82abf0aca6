package server

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
)

const testToken = "0123456789abcdef0123456789abcdef"

// fakeCore is a core made by hand.
type fakeCore struct {
	snap    *state.Snapshot
	journal *journal.Journal
	status  control.Status
}

func (c *fakeCore) Snapshot() *state.Snapshot { return c.snap }
func (c *fakeCore) Journal() *journal.Journal { return c.journal }
func (c *fakeCore) Status() control.Status    { return c.status }

// newFakeCore holds a service with an endpoint in namespace shop, a proxy
// there, and one in namespace other.
func newFakeCore() *fakeCore {
	b := state.NewBuilder(state.Empty())
	slice := model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindEndpointSlice, Namespace: "shop", Name: "web-1"}
	pod := model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindPod, Namespace: "shop", Name: "web-0"}
	w := &model.Workload{Object: pod, Namespace: "shop", Name: "web", Cluster: "Kubernetes", TLSMode: "istio"}
	list := []*model.Candidate{
		{Source: &slice, Target: &pod, Address: "10.0.0.1", PortName: "http", Port: 8080, Endpoint: &model.Endpoint{
			Workload: w, Addresses: []string{"10.0.0.1"}, PortName: "http", Port: 8080, Health: model.Healthy,
		}},
		{Source: &slice, Address: "10.0.0.2", PortName: "http", Port: 8080, Reason: model.ReasonPodNotSeen},
	}
	key := model.ServiceKey{Hostname: "web.shop.svc.cluster.local", Namespace: "shop"}
	b.SetService(key, &state.ServiceState{
		Key: key, Version: 1,
		Definitions: []*model.Service{{
			Key: key, Name: "web", Provider: model.ProviderKubernetes, DefaultAddress: "10.96.0.1",
			Object: model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindService, Namespace: "shop", Name: "web"},
			Ports:  []model.Port{{Name: "http", Number: 80, Protocol: model.ProtocolHTTP}},
		}},
		Shards: []*state.Shard{{
			Key:    model.ShardKey{Provider: model.ProviderKubernetes, Cluster: "Kubernetes"},
			Chunks: []*state.Chunk{{Source: slice, Candidates: list}}, Candidates: list, Endpoints: 1,
		}},
	})
	for _, ns := range []string{"shop", "other"} {
		b.SetProxy("web-0."+ns, &model.Proxy{
			ID: "web-0." + ns, Type: model.Sidecar, Namespace: ns, Cluster: "Kubernetes", IPs: []string{"10.0.0.1"},
			Pod: model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindPod, Namespace: ns, Name: "web-0"},
		})
	}
	c := &fakeCore{snap: b.Snapshot(time.Unix(1700000000, 0)), journal: journal.New(100)}
	c.status = control.Status{Ready: true, Source: source.Status{
		Name: "test", Clusters: []source.ClusterStatus{{ID: "Kubernetes", Sync: "synced", Connected: true}},
	}}
	c.append("first")
	return c
}

func (c *fakeCore) append(because string) *journal.Transition {
	t := &journal.Transition{
		Version: c.snap.Version, Prev: state.Empty(), Next: c.snap, Diff: &state.Diff{},
		Push: journal.Push{Scope: state.FullScope(), Because: because},
	}
	c.journal.Append(t)
	return t
}

// testServer is a server that is listened to.
type testServer struct {
	*Server
	url string
}

func newTestServer(t *testing.T, core Core, o Options) *testServer {
	t.Helper()
	s := New(core, o)
	h := httptest.NewServer(s.Handler())
	t.Cleanup(h.Close)
	return &testServer{Server: s, url: h.URL}
}

// client does not follow redirects.
func client() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// answer is a response whose body has been read.
type answer struct {
	*http.Response
	body string
}

func do(t *testing.T, c *http.Client, method, url string, edit func(*http.Request)) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(r)
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	}()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp, string(body)}
}

func closeAtEnd(t *testing.T, c io.Closer) {
	t.Helper()
	t.Cleanup(func() {
		if err := c.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
}

func bearer(r *http.Request) { r.Header.Set("Authorization", "Bearer "+testToken) }

// logIn returns a client with the cookie of a new session.
func (s *testServer) logIn(t *testing.T) *http.Client {
	t.Helper()
	c := client()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Jar = jar
	if a := do(t, c, http.MethodGet, s.url+s.LoginPath(), nil); a.StatusCode != http.StatusSeeOther {
		t.Fatalf("login: %d %s", a.StatusCode, a.body)
	}
	return c
}

func TestLoginLinkWorksOnce(t *testing.T) {
	s := newTestServer(t, newFakeCore(), Options{})
	path := s.LoginPath()
	first := do(t, client(), http.MethodGet, s.url+path, nil)
	if first.StatusCode != http.StatusSeeOther || first.Header.Get("Location") != "/" {
		t.Fatalf("first use: %d to %q, want 303 to /", first.StatusCode, first.Header.Get("Location"))
	}
	cookie := first.Header.Get("Set-Cookie")
	port := s.url[strings.LastIndex(s.url, ":")+1:]
	for _, want := range []string{"edsight-session-" + port + "=", "HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("cookie %q lacks %q", cookie, want)
		}
	}
	second := do(t, client(), http.MethodGet, s.url+path, nil)
	if second.StatusCode != http.StatusUnauthorized || second.Header.Get("Set-Cookie") != "" {
		t.Errorf("second use: %d, cookie %q, want 401 without one", second.StatusCode, second.Header.Get("Set-Cookie"))
	}
}

func TestCookieIsSecureUnderTLS(t *testing.T) {
	s := New(newFakeCore(), Options{})
	h := httptest.NewTLSServer(s.Handler())
	t.Cleanup(h.Close)
	c := h.Client()
	c.CheckRedirect = client().CheckRedirect
	if a := do(t, c, http.MethodGet, h.URL+s.LoginPath(), nil); !strings.Contains(a.Header.Get("Set-Cookie"), "; Secure") {
		t.Errorf("cookie %q is not Secure", a.Header.Get("Set-Cookie"))
	}
}

func TestTokenLogsInByForm(t *testing.T) {
	s := newTestServer(t, newFakeCore(), Options{Token: testToken})
	post := func(token string) answer {
		return do(t, client(), http.MethodPost, s.url+"/login", func(r *http.Request) {
			r.Header.Set("Origin", s.url)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Body = io.NopCloser(strings.NewReader("token=" + token))
		})
	}
	if a := post(testToken); a.StatusCode != http.StatusSeeOther {
		t.Errorf("right token: %d, want 303", a.StatusCode)
	}
	if a := post("wrong"); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("wrong token: %d, want 401", a.StatusCode)
	}
}

func TestLoginAttemptsAreBounded(t *testing.T) {
	now := time.Unix(1700000000, 0)
	s := newTestServer(t, newFakeCore(), Options{Now: func() time.Time { return now }})
	for range loginBurst {
		do(t, client(), http.MethodGet, s.url+"/login?token=guess", nil)
	}
	path := s.LoginPath()
	if a := do(t, client(), http.MethodGet, s.url+path, nil); a.StatusCode != http.StatusTooManyRequests {
		t.Errorf("attempt %d: %d, want 429", loginBurst+1, a.StatusCode)
	}
	now = now.Add(loginEvery)
	if a := do(t, client(), http.MethodGet, s.url+path, nil); a.StatusCode != http.StatusSeeOther {
		t.Errorf("after a while: %d, want 303: the link must not be used up by a refused attempt", a.StatusCode)
	}
}

func TestSessionEnds(t *testing.T) {
	now := time.Unix(1700000000, 0)
	s := newTestServer(t, newFakeCore(), Options{Now: func() time.Time { return now }})
	get := func(c *http.Client) int { return do(t, c, http.MethodGet, s.url+"/metrics", nil).StatusCode }

	c := s.logIn(t)
	if got := get(c); got != http.StatusOK {
		t.Fatalf("logged in: %d, want 200", got)
	}
	now = now.Add(sessionLifetime)
	if got := get(c); got != http.StatusUnauthorized {
		t.Errorf("expired: %d, want 401", got)
	}
	c = s.logIn(t)
	cookies := c.Jar
	a := do(t, c, http.MethodPost, s.url+"/logout", func(r *http.Request) { r.Header.Set("Origin", s.url) })
	if a.StatusCode != http.StatusSeeOther || !strings.Contains(a.Header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("logout: %d, cookie %q", a.StatusCode, a.Header.Get("Set-Cookie"))
	}
	if got := get(c); got != http.StatusUnauthorized {
		t.Errorf("after logout: %d with %v, want 401", got, cookies)
	}
}

func TestAuditLineNamesCallerAndHidesTokens(t *testing.T) {
	var log strings.Builder
	s := newTestServer(t, newFakeCore(), Options{Token: testToken, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	path := s.LoginPath()
	do(t, client(), http.MethodGet, s.url+path, nil)
	do(t, client(), http.MethodGet, s.url+"/metrics", bearer)
	do(t, client(), http.MethodGet, s.url+"/metrics", nil)
	lines := log.String()
	for _, want := range []string{
		"level=INFO msg=request who=session-", "level=DEBUG msg=request who=token role=admin method=GET path=/metrics status=200",
		`level=INFO msg=request who="" role=none method=GET path=/metrics status=401`,
	} {
		if !strings.Contains(lines, want) {
			t.Errorf("log lacks %q:\n%s", want, lines)
		}
	}
	if token := strings.TrimPrefix(path, "/login?token="); strings.Contains(lines, token) || strings.Contains(lines, testToken) {
		t.Errorf("log holds a token:\n%s", lines)
	}
}
