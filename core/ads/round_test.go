package ads

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/session"
)

// TestARoundIsAsLongAsItsStreamsNeed, and the next begins as long after it.
func TestARoundIsAsLongAsItsStreamsNeed(t *testing.T) {
	const each = time.Millisecond
	for _, c := range []struct {
		streams, served int
		want            time.Duration
	}{
		{0, 0, 0},
		{1, 1, 2 * each},
		{9, 9, 18 * each},
		{10, 10, 18 * each}, // one of ten is not waited for
		{40, 36, 72 * each},
		{40, 35, 2 * mostRound},
		{1, 0, 2 * mostRound},
	} {
		t.Run(fmt.Sprint(c.served, " of ", c.streams), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, begin := newRound(c.streams), time.Now()
				go func() {
					for range c.served {
						<-time.After(each)
						r.served()
					}
				}()
				r.wait(t.Context())
				if took := time.Since(begin); took != c.want {
					t.Errorf("the next round begins after %s, want %s", took, c.want)
				}
				synctest.Wait()
			})
		})
	}
}

// TestARoundEndsWithTheProgram, while it lasts and in the pause after it.
func TestARoundEndsWithTheProgram(t *testing.T) {
	for _, after := range []time.Duration{mostRound / 2, mostRound * 3 / 2} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			defer cancel()
			begin := time.Now()
			newRound(1).wait(ctx)
			if took := time.Since(begin); took != after {
				t.Errorf("it ends after %s, want %s", took, after)
			}
		})
	}
}

// TestRoundsDoNotWaitForLateStreams: a client that does not answer holds rounds up for
// as long as it may be slow, and counts again when it answers.
func TestRoundsDoNotWaitForLateStreams(t *testing.T) {
	var ahead atomic.Int64
	h := start(t, services(2), func(h *harness) {
		h.options.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	ready := func() int {
		h.server.hub.mu.Lock()
		defer h.server.hub.mu.Unlock()
		all := map[*audience]struct{}{}
		for _, a := range h.server.hub.audiences {
			all[a] = struct{}{}
		}
		return h.server.hub.ready(all, false)
	}
	want := func(n int, when string) {
		t.Helper()
		h.eventually(fmt.Sprintf("%d streams are waited for %s", n, when), func() bool { return ready() == n })
	}
	one, other := h.connect("client-0.shop", "s0", "s1"), h.connect("client-1.shop", "s0", "s1")
	want(2, "at first")
	h.put(slice("s0", "10.0.9.9"))
	one.ack(one.expect("+" + cluster("s0")))
	open := other.expect("+" + cluster("s0")) // and no answer yet
	h.put(slice("s1", "10.0.9.9"))
	one.ack(one.expect("+" + cluster("s1")))
	want(2, "while one is slow")
	ahead.Store(int64(lateAfter + time.Hour))
	want(1, "when it is late")
	other.ack(open)
	other.ack(other.expect("+" + cluster("s1")))
	want(2, "when it has answered")
}

// TestStreamsThatAnswerAreNotLate, though there is always something left to send.
func TestStreamsThatAnswerAreNotLate(t *testing.T) {
	now := time.Unix(1, 0)
	s := &turn{}
	for range 5 {
		s.begin(now, nil)
		if now = now.Add(lateAfter); s.late(now) {
			t.Error("late before its time")
		}
		s.answered(now)
	}
	if !s.late(now.Add(lateAfter + 1)) {
		t.Error("not late without an answer")
	}
	s.end()
	if s.answered(now); s.late(now.Add(time.Hour)) {
		t.Error("late with nothing to send")
	}
}

// TestManyEndpointsComeInParts: no message is much larger than the bound, each is sent
// when the one before is acknowledged, and what caused them is done after the last.
func TestManyEndpointsComeInParts(t *testing.T) {
	const n, each = 12, 1500
	h, names := start(t, services(n)), make([]string, n)
	for i := range n {
		ips := addressesRange(i+1, each)
		name := fmt.Sprintf("s%d", i)
		names[i] = cluster(name)
		h.apply(slice(name, ips...))
	}
	c := h.connect("client-0.shop")
	parts := func() {
		t.Helper()
		have, messages := 0, 0
		for ; have < n; messages++ {
			m := c.next()
			if size := proto.Size(m); size > maxEndpoints*5/4 {
				t.Errorf("a message has %d bytes", size)
			}
			for _, r := range m.GetResources() {
				if got := len(addressesOf(t, m, r.GetName())); got != each {
					t.Errorf("%s has %d endpoints, want %d", r.GetName(), got, each)
				}
			}
			have += len(m.GetResources())
			if have < n {
				c.nothing() // before it is acknowledged
				if d := h.core.Journal().Delivery(h.core.Journal().Last()).Counts(); d.Affected > 0 && d.Waiting() == 0 {
					t.Error("the push is done before its last message")
				}
			}
			c.ack(m)
		}
		if have != n || messages < 2 {
			t.Errorf("%d endpoints in %d messages, want %d in more than one", have, messages, n)
		}
	}
	c.send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeEndpoint, ResourceNamesSubscribe: names})
	parts()
	h.server.Push()
	c.ack(c.next()) // clusters
	parts()
	d := h.delivered(h.core.Journal().Get(h.core.Journal().Last()))
	if d.Acked != 1 {
		t.Errorf("delivery is %+v, want it acknowledged", d)
	}
	c.nothing()
}

// TestChangesAreNotPutOff: those of what a client has are one message, however large.
func TestChangesAreNotPutOff(t *testing.T) {
	const n, each = 12, 1500
	a := newAlone(t)
	ask := &request{typeURL: typeEndpoint}
	a.core.Apply(services(n))
	change := func(first int) {
		t.Helper()
		for i := range n {
			a.core.Apply(slice(fmt.Sprintf("s%d", i), addressesRange(i+first, each)...))
		}
		a.publish()
		a.stream.read()
	}
	change(1)
	for i := range n {
		ask.subscribe = append(ask.subscribe, cluster(fmt.Sprintf("s%d", i)))
	}
	if err := errors.Join(a.stream.receive(ask), a.stream.flush()); err != nil {
		t.Fatal(err)
	}
	w := a.stream.watch(typeEndpoint)
	answer := func() {
		t.Helper()
		if err := errors.Join(a.stream.receive(&request{typeURL: typeEndpoint, nonce: w.nonce}), a.stream.flush()); err != nil {
			t.Fatal(err)
		}
	}
	parts := 0
	for ; w.waiting; parts++ {
		answer()
	}
	change(n + 1)
	if err := a.stream.flush(); err != nil {
		t.Fatal(err)
	}
	if parts < 2 || len(w.carried) != n || a.stream.due(w) {
		t.Errorf("after %d parts a message has %d of %d changes", parts, len(w.carried), n)
	}
}

func addressesRange(network, n int) []string {
	ips := make([]string, n)
	for j := range ips {
		ips[j] = fmt.Sprintf("10.%d.%d.%d", network, j/250, j%250+1)
	}
	return ips
}

// alone is a stream whose steps a test makes, and its server.
type alone struct {
	core   *coretest.Core
	server *Server
	next   uint64
	sent   int
	stream *stream
}

func newAlone(t *testing.T) *alone {
	t.Helper()
	a := &alone{core: coretest.New(t), next: 1}
	a.core.Apply(services(1))
	a.server = New(a.core, Options{})
	a.publish()
	a.stream = a.open(t, "client-0.shop")
	return a
}

func (a *alone) open(t *testing.T, id string) *stream {
	t.Helper()
	n, err := parseNode(nodeOf(id))
	if err != nil {
		t.Fatal(err)
	}
	s := &stream{
		server: a.server, record: newRecord(session.Session{}), node: n, delta: true, kick: make(chan struct{}, 1),
		write: func(mem.BufferSlice) error { a.sent++; return nil },
	}
	if _, err := a.server.connect(s); err != nil {
		t.Fatal(err)
	}
	a.core.Flush()
	s.proxy = a.core.Snapshot().Proxy(id)
	s.settle(a.server.hub.join(s))
	return s
}

func (a *alone) publish() *round {
	b := a.core.Journal().Since(a.next, math.MaxInt)
	a.next = b.Next
	return a.server.publish(b)
}

// TestRoundsWaitForStreamsOnTheirWay to a new configuration, and not for those that left.
func TestRoundsWaitForStreamsOnTheirWay(t *testing.T) {
	a := newAlone(t)
	for i := range 3 {
		a.core.Apply(fmt.Sprintf("{apiVersion: v1, kind: Service, metadata: {name: new-%d, namespace: shop}, spec: {ports: [{port: 80}]}}", i))
		if left := a.publish().left.Load(); left != 1 {
			t.Errorf("round %d waits for %d streams, want 1", i, left)
		}
	}
	a.open(t, "client-1.shop")
	a.stream.leave()
	a.core.Apply("{apiVersion: v1, kind: Service, metadata: {name: last, namespace: shop}, spec: {ports: [{port: 80}]}}")
	if left := a.publish().left.Load(); left != 1 {
		t.Errorf("%d streams are waited for, want the one that is left", left)
	}
}

// TestForcedPushReachesStreamsOnTheirWay, which learn of it only when they arrive.
func TestForcedPushReachesStreamsOnTheirWay(t *testing.T) {
	a := newAlone(t)
	for _, r := range []*request{
		{typeURL: typeEndpoint, subscribe: []string{cluster("s0")}},
		{typeURL: typeEndpoint, nonce: "1"},
	} {
		if err := errors.Join(a.stream.receive(r), a.stream.flush()); err != nil {
			t.Fatal(err)
		}
	}
	a.core.Apply("{apiVersion: v1, kind: Service, metadata: {name: new, namespace: shop}, spec: {ports: [{port: 80}]}}")
	a.publish()
	a.core.Push()
	a.core.Flush()
	a.publish()
	before := a.sent
	a.stream.read()
	if err := a.stream.flush(); err != nil || a.sent != before+1 {
		t.Errorf("%d messages, and %v, want one", a.sent-before, err)
	}
}
