package ads

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	clusterservicev3 "github.com/envoyproxy/go-control-plane/envoy/service/cluster/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	endpointservicev3 "github.com/envoyproxy/go-control-plane/envoy/service/endpoint/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// sotwStream is what all state-of-the-world streams can do.
type sotwStream interface {
	Send(r *discoveryv3.DiscoveryRequest) error
	Recv() (*discoveryv3.DiscoveryResponse, error)
}

type sotwClient struct {
	t      testing.TB
	stream sotwStream
	got    chan *discoveryv3.DiscoveryResponse
}

func (h *harness) sotw(id string) *sotwClient {
	h.t.Helper()
	s, err := discoveryv3.NewAggregatedDiscoveryServiceClient(h.dial()).StreamAggregatedResources(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	c := newSotw(h.t, s)
	c.send(&discoveryv3.DiscoveryRequest{TypeUrl: typeCluster, Node: nodeOf(id)})
	return c
}

func newSotw(t testing.TB, s sotwStream) *sotwClient {
	t.Helper()
	c := &sotwClient{t: t, stream: s, got: make(chan *discoveryv3.DiscoveryResponse, 16)}
	go func() {
		defer close(c.got)
		for {
			m, err := s.Recv()
			if err != nil {
				return
			}
			c.got <- m
		}
	}()
	return c
}

func (c *sotwClient) send(r *discoveryv3.DiscoveryRequest) {
	c.t.Helper()
	if err := c.stream.Send(r); err != nil {
		c.t.Fatal(err)
	}
}

// expect waits for a message whose resources have these names, and returns it.
func (c *sotwClient) expect(want ...string) *discoveryv3.DiscoveryResponse {
	c.t.Helper()
	select {
	case m, ok := <-c.got:
		if !ok {
			c.t.Fatal("stream ended")
		}
		if have := names(c.t, m); !slices.Equal(have, want) {
			c.t.Fatalf("message has %v, want %v", have, want)
		}
		return m
	case <-time.After(patience):
		c.t.Fatal("no message came")
	}
	return nil
}

func (c *sotwClient) nothing() {
	c.t.Helper()
	select {
	case m := <-c.got:
		c.t.Fatalf("a message came: %v", names(c.t, m))
	case <-time.After(quiet):
	}
}

// names lists the outbound clusters, or the assignments, of a message.
func names(t testing.TB, m *discoveryv3.DiscoveryResponse) []string {
	t.Helper()
	out := []string{}
	for _, r := range m.GetResources() {
		one, err := r.UnmarshalNew()
		if err != nil {
			t.Fatal(err)
		}
		switch v := one.(type) {
		case *clusterv3.Cluster:
			if strings.HasPrefix(v.GetName(), "outbound|") {
				out = append(out, v.GetName())
			}
		case *endpointv3.ClusterLoadAssignment:
			out = append(out, v.GetClusterName())
		}
	}
	slices.Sort(out)
	return out
}

// answer acknowledges a message and asks for these names from now on.
func (c *sotwClient) answer(m *discoveryv3.DiscoveryResponse, names ...string) {
	c.t.Helper()
	c.send(&discoveryv3.DiscoveryRequest{
		TypeUrl: m.GetTypeUrl(), VersionInfo: m.GetVersionInfo(), ResponseNonce: m.GetNonce(), ResourceNames: names,
	})
}

func TestStateOfTheWorld(t *testing.T) {
	h := start(t, services(2))
	c := h.sotw("client-0.shop")
	c.answer(c.expect(cluster("s0"), cluster("s1")))
	both := []string{cluster("s0"), cluster("s1")}
	c.send(&discoveryv3.DiscoveryRequest{TypeUrl: typeEndpoint, ResourceNames: both})
	c.answer(c.expect(both...), both...)

	h.put(slice("s1", "10.0.1.2")) // one assignment goes alone
	c.answer(c.expect(cluster("s1")), both...)
	// All clusters go together; s1 is set back, too, which may be a transition of its
	// own.
	h.put(services(3))
	got := map[string][]string{}
	for range 2 {
		m := <-c.got
		got[m.GetTypeUrl()] = names(t, m)
	}
	if have := got[typeCluster]; len(have) != 3 {
		t.Errorf("clusters come as %v, want all of them", have)
	}
	if have := got[typeEndpoint]; !slices.Equal(have, []string{cluster("s1")}) {
		t.Errorf("endpoints come as %v, want those that changed", have)
	}
}

func TestNamesCountEvenWithAnOlderNonce(t *testing.T) {
	h := start(t, services(3))
	c := h.sotw("client-0.shop")
	c.answer(c.expect(cluster("s0"), cluster("s1"), cluster("s2")))
	c.send(&discoveryv3.DiscoveryRequest{TypeUrl: typeEndpoint, ResourceNames: []string{cluster("s0")}})
	old := c.expect(cluster("s0"))
	c.answer(old, cluster("s0"))
	h.put(slice("s0", "10.0.0.2"))
	m := c.expect(cluster("s0"))
	c.answer(old, cluster("s0"), cluster("s1")) // sent before m was read
	c.nothing()                                 // m is not answered yet
	c.answer(m, cluster("s0"), cluster("s1"))
	c.answer(c.expect(cluster("s1")), cluster("s0"), cluster("s1"))
	c.nothing()
}

func TestServicesOfOneType(t *testing.T) {
	h := start(t, services(1))
	conn := h.dial()
	cs, err := clusterservicev3.NewClusterDiscoveryServiceClient(conn).StreamClusters(h.t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := newSotw(t, cs)
	c.send(&discoveryv3.DiscoveryRequest{Node: nodeOf("client-0.shop")}) // the type goes without saying
	c.answer(c.expect(cluster("s0")))
	es, err := endpointservicev3.NewEndpointDiscoveryServiceClient(conn).StreamEndpoints(h.t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e := newSotw(t, es)
	e.send(&discoveryv3.DiscoveryRequest{Node: nodeOf("client-0.shop"), ResourceNames: []string{cluster("s0")}})
	e.expect(cluster("s0"))
	ds, err := endpointservicev3.NewEndpointDiscoveryServiceClient(conn).DeltaEndpoints(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ask := func(typeURL string) (*discoveryv3.DeltaDiscoveryResponse, error) {
		_ = ds.Send(&discoveryv3.DeltaDiscoveryRequest{ // what is wrong comes with Recv
			Node: nodeOf("client-0.shop"), TypeUrl: typeURL, ResourceNamesSubscribe: []string{cluster("s0")},
		})
		return ds.Recv()
	}
	if m, err := ask(""); err != nil || summary(m) != "+"+cluster("s0") || m.GetTypeUrl() != typeEndpoint {
		t.Errorf("endpoints by their own incremental service: %v, %v", m, err)
	}
	if _, err := ask(typeCluster); status.Code(err) != codes.InvalidArgument {
		t.Errorf("another type than the service's: %v", err)
	}
}

func TestShutdownEndsEverything(t *testing.T) {
	h := start(t, services(2))
	for range 10 {
		h.connect("client-0.shop", "s0", "s1")
	}
	h.stop()
	ended := make(chan struct{})
	go func() { h.server.running.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("something runs on after the end")
	}
	if n := len(h.server.Sessions()); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}

// TestSlowClientDelaysNobody has a client that does not read, and one that does.
func TestSlowClientDelaysNobody(t *testing.T) {
	h := start(t, services(2))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, err := discoveryv3.NewAggregatedDiscoveryServiceClient(h.dial()).DeltaAggregatedResources(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeCluster, Node: nodeOf("slow-0.shop")}); err != nil {
		t.Fatal(err)
	}
	if err := s.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeEndpoint, ResourceNamesSubscribe: []string{cluster("s0")}}); err != nil {
		t.Fatal(err)
	}
	c := h.connect("client-0.shop", "s0")
	for i := range 20 {
		h.put(slice("s0", fmt.Sprintf("10.0.0.%d", i+2)))
		c.ack(c.expect("+" + cluster("s0")))
	}
}
