package ads

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
)

// TestManyChangesAreOneMessage: a client that answers late gets the newest, once.
func TestManyChangesAreOneMessage(t *testing.T) {
	h := start(t, services(2))
	c := h.connect("client-0.shop", "s0", "s1")
	h.put(slice("s0", "10.0.0.2"))
	m := c.expect("+" + cluster("s0"))
	for i := range 1000 {
		h.put(slice("s0", fmt.Sprintf("10.0.%d.%d", 1+i/250, i%250)))
	}
	h.put(rule) // and its cluster
	c.ack(c.expect("+" + cluster("s0")))
	c.ack(m)
	m = c.expect("+" + cluster("s0"))
	if have := addressesOf(t, m, cluster("s0")); !slices.Equal(have, []string{"10.0.4.249:8080"}) {
		t.Errorf("endpoints are %v, want the newest", have)
	}
	c.ack(m)
	c.nothing()
}

// TestFloodOfRequests: a client asks and gives up without end, and answers nothing.
// What it asked for last is what it gets, and others are served meanwhile.
func TestFloodOfRequests(t *testing.T) {
	h := start(t, services(2))
	other := h.connect("client-1.shop", "s1")
	c := h.connect("client-0.shop", "s0")
	h.put(slice("s0", "10.0.0.2"))
	m := c.expect("+" + cluster("s0"))
	for i := range 10_000 {
		c.send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeEndpoint, ResourceNamesSubscribe: []string{fmt.Sprint("nobody-", i), cluster("s1")}})
		c.send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeEndpoint, ResourceNamesUnsubscribe: []string{fmt.Sprint("nobody-", i), cluster("s1")}})
		if i == 5000 {
			h.put(slice("s1", "10.0.1.2"))
			other.ack(other.expect("+" + cluster("s1")))
		}
	}
	c.send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeEndpoint, ResourceNamesSubscribe: []string{cluster("s1")}})
	c.ack(m)
	c.expect("+" + cluster("s1"))
}

// TestManyNames asks for ten thousand names, most of which do not exist.
func TestManyNames(t *testing.T) {
	h := start(t, services(2))
	names := []string{cluster("s0"), cluster("s1")}
	for i := range 10_000 {
		names = append(names, fmt.Sprintf("outbound|80||nobody-%d.shop.svc.cluster.local", i))
	}
	c := h.delta("client-0.shop", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeEndpoint, ResourceNamesSubscribe: names})
	if m := c.next(); len(m.GetResources()) != 2 || len(m.GetRemovedResources()) != len(names)-2 {
		t.Errorf("%d resources and %d that are not there", len(m.GetResources()), len(m.GetRemovedResources()))
	}
	w := h.sotw("client-1.shop")
	w.answer(w.expect(cluster("s0"), cluster("s1")))
	w.send(&discoveryv3.DiscoveryRequest{TypeUrl: typeEndpoint, ResourceNames: names})
	w.answer(w.expect(cluster("s0"), cluster("s1")), names...)
	h.put(slice("s1", "10.0.1.2"))
	w.expect(cluster("s1"))
}

// TestNodeOfTheFirstRequestCounts: what later requests say of it changes nothing.
func TestNodeOfTheFirstRequestCounts(t *testing.T) {
	h := start(t, services(2))
	c := h.connect("client-0.shop")
	c.send(&discoveryv3.DeltaDiscoveryRequest{Node: nodeOf("client-1.bank"), TypeUrl: typeEndpoint, ResourceNamesSubscribe: []string{cluster("s0")}})
	c.ack(c.expect("+" + cluster("s0")))
	if all := h.server.Sessions(); len(all) != 1 || all[0].Proxy != "client-0.shop" {
		t.Errorf("sessions are %+v", all)
	}
	if h.core.Snapshot().Proxy("client-1.bank") != nil {
		t.Error("another proxy is known")
	}
}

// TestEndsOfStreams: one that the client closes ends well; one that it gives up amid a
// push is forgotten, and the next of the same proxy is served.
func TestEndsOfStreams(t *testing.T) {
	h := start(t, services(2))
	c := h.connect("client-0.shop", "s0")
	if err := c.stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-c.failed:
		if !errors.Is(err, io.EOF) {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(patience):
		t.Fatal("the stream goes on")
	}
	for i := range 20 {
		c := h.connect("client-0.shop", "s0", "s1")
		h.put(slice("s0", fmt.Sprintf("10.0.0.%d", i+2)))
		c.cancel()
	}
	h.eventually("all are forgotten", func() bool {
		return len(h.server.Sessions()) == 0 && h.core.Snapshot().Proxy("client-0.shop") == nil
	})
	for _, tr := range h.core.Journal().Since(1, 1<<20).Transitions {
		if d := h.core.Journal().Delivery(tr.Seq).Counts(); d.Waiting() != 0 || d.Sent != 0 {
			t.Errorf("transition %d waits: %+v", tr.Seq, d)
		}
	}
}
