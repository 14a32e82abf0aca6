package ads

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
)

func nodeOf(id string) *corev3.Node {
	return &corev3.Node{Id: "sidecar~10.9.0.1~" + id + "~shop.svc.cluster.local"}
}

// deltaClient is a client of incremental ADS that answers only when told to.
type deltaClient struct {
	t      testing.TB
	stream discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesClient
	got    chan *discoveryv3.DeltaDiscoveryResponse
	failed chan error
	cancel func()
}

func (h *harness) delta(id string, first *discoveryv3.DeltaDiscoveryRequest) *deltaClient {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	s, err := discoveryv3.NewAggregatedDiscoveryServiceClient(h.dial()).DeltaAggregatedResources(ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	c := &deltaClient{t: h.t, stream: s, got: make(chan *discoveryv3.DeltaDiscoveryResponse, 16), failed: make(chan error, 1), cancel: cancel}
	if id != "" {
		first.Node = nodeOf(id)
	}
	c.send(first)
	go func() {
		for {
			m, err := s.Recv()
			if err != nil {
				c.failed <- err
				return
			}
			c.got <- m
		}
	}()
	return c
}

func (c *deltaClient) send(r *discoveryv3.DeltaDiscoveryRequest) {
	c.t.Helper()
	if err := c.stream.Send(r); err != nil {
		c.t.Fatal(err)
	}
}

// next waits for a message.
func (c *deltaClient) next() *discoveryv3.DeltaDiscoveryResponse {
	c.t.Helper()
	select {
	case m := <-c.got:
		return m
	case err := <-c.failed:
		c.t.Fatalf("stream ended: %v", err)
	case <-time.After(patience):
		c.t.Fatal("no message came")
	}
	return nil
}

// nothing asserts that no message comes.
func (c *deltaClient) nothing() {
	c.t.Helper()
	select {
	case m := <-c.got:
		c.t.Fatalf("a message came: %s", summary(m))
	case <-time.After(quiet):
	}
}

func (c *deltaClient) ack(m *discoveryv3.DeltaDiscoveryResponse) {
	c.t.Helper()
	c.send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: m.GetTypeUrl(), ResponseNonce: m.GetNonce()})
}

func (c *deltaClient) nack(m *discoveryv3.DeltaDiscoveryResponse, text string) {
	c.t.Helper()
	c.send(&discoveryv3.DeltaDiscoveryRequest{
		TypeUrl: m.GetTypeUrl(), ResponseNonce: m.GetNonce(), ErrorDetail: &rpcstatus.Status{Code: 3, Message: text},
	})
}

// expect waits for a message with exactly these resources and removals, written
// "+name" and "-name".
func (c *deltaClient) expect(want ...string) *discoveryv3.DeltaDiscoveryResponse {
	c.t.Helper()
	m := c.next()
	if have := summary(m); have != strings.Join(want, " ") {
		c.t.Fatalf("message has %s, want %s", have, strings.Join(want, " "))
	}
	return m
}

func summary(m *discoveryv3.DeltaDiscoveryResponse) string {
	var out []string
	for _, r := range m.GetResources() {
		out = append(out, "+"+r.GetName())
	}
	for _, n := range m.GetRemovedResources() {
		out = append(out, "-"+n)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// connect opens a stream and takes clusters and the endpoints of these services.
func (h *harness) connect(id string, services ...string) *deltaClient {
	h.t.Helper()
	c := h.delta(id, &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeCluster})
	c.ack(c.next())
	if len(services) == 0 {
		return c
	}
	r := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeEndpoint}
	var want []string
	for _, s := range services {
		r.ResourceNamesSubscribe = append(r.ResourceNamesSubscribe, cluster(s))
		want = append(want, "+"+cluster(s))
	}
	c.send(r)
	c.ack(c.expect(want...))
	return c
}

// addresses lists the endpoints of one resource of a message.
func addressesOf(t testing.TB, m *discoveryv3.DeltaDiscoveryResponse, name string) []string {
	t.Helper()
	for _, r := range m.GetResources() {
		if r.GetName() != name {
			continue
		}
		a := &endpointv3.ClusterLoadAssignment{}
		if err := r.GetResource().UnmarshalTo(a); err != nil {
			t.Fatal(err)
		}
		return hosts(a)
	}
	t.Fatalf("no %s in %s", name, summary(m))
	return nil
}

func hosts(a *endpointv3.ClusterLoadAssignment) []string {
	out := []string{}
	for _, l := range a.GetEndpoints() {
		for _, e := range l.GetLbEndpoints() {
			s := e.GetEndpoint().GetAddress().GetSocketAddress()
			out = append(out, fmt.Sprintf("%s:%d", s.GetAddress(), s.GetPortValue()))
		}
	}
	slices.Sort(out)
	return out
}
