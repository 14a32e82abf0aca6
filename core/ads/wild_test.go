package ads

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/edsight/edsight/core/registry"
)

// wildClient behaves badly until it is calm: it ends its stream, refuses, and
// stops to read, at random. What it gets it takes over, refused or not.
type wildClient struct {
	h      *harness
	id     string
	pinned registry.Pinned
	conn   *grpc.ClientConn
	random *rand.Rand
	sotw   bool
	calm   atomic.Bool

	mu                  sync.Mutex // protects all below
	clusters, endpoints map[string]string
	versions            map[string]map[string]string // by type and name, incremental only
	warming             map[string]bool              // clusters that wait for their endpoints
}

func newWildClient(h *harness, i int) *wildClient {
	id := fmt.Sprintf("client-%d.shop", i)
	n, err := parseNode(nodeOf(id))
	if err != nil {
		h.t.Fatal(err)
	}
	c := &wildClient{h: h, id: id, pinned: n.pinned, conn: h.dial(), random: rand.New(rand.NewPCG(uint64(i), 7)), sotw: i%2 == 1}
	c.reset()
	return c
}

func (c *wildClient) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clusters, c.endpoints = map[string]string{}, map[string]string{}
	c.versions = map[string]map[string]string{typeCluster: {}, typeEndpoint: {}}
	c.warming = map[string]bool{}
}

func (c *wildClient) run(ctx context.Context) {
	for ctx.Err() == nil {
		if c.sotw || c.random.IntN(2) == 0 {
			c.reset() // has forgotten everything
		}
		streamCtx, cancel := context.WithCancel(ctx)
		client := discoveryv3.NewAggregatedDiscoveryServiceClient(c.conn)
		if c.sotw {
			if s, err := client.StreamAggregatedResources(streamCtx); err == nil {
				c.runSotw(s)
			}
		} else if s, err := client.DeltaAggregatedResources(streamCtx); err == nil {
			c.runDelta(s)
		}
		cancel()
	}
}

// mood tells whether to go away, and whether to refuse; sometimes it dawdles.
func (c *wildClient) mood() (leave, refuse bool) {
	if c.calm.Load() {
		return false, false
	}
	if c.random.IntN(40) == 0 {
		<-time.After(time.Duration(c.random.IntN(100)) * time.Millisecond)
	}
	return c.random.IntN(60) == 0, c.random.IntN(15) == 0
}

func refusal(yes bool) *rpcstatus.Status {
	if !yes {
		return nil
	}
	return &rpcstatus.Status{Code: 3, Message: "not today"}
}

func (c *wildClient) runDelta(s discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesClient) {
	c.mu.Lock()
	first := &discoveryv3.DeltaDiscoveryRequest{
		Node: nodeOf(c.id), TypeUrl: typeCluster, InitialResourceVersions: maps.Clone(c.versions[typeCluster]),
	}
	have := maps.Clone(c.versions[typeEndpoint])
	for name := range c.warming {
		delete(have, name) // the last stream ended before they came
	}
	endpoints := &discoveryv3.DeltaDiscoveryRequest{
		TypeUrl: typeEndpoint, InitialResourceVersions: have,
		ResourceNamesSubscribe: slices.Collect(maps.Keys(c.edsNamesLocked())),
	}
	c.mu.Unlock()
	if s.Send(first) != nil || s.Send(endpoints) != nil {
		return
	}
	for {
		m, err := s.Recv()
		if err != nil {
			return
		}
		leave, refuse := c.mood()
		if leave {
			return
		}
		answer := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: m.GetTypeUrl(), ResponseNonce: m.GetNonce(), ErrorDetail: refusal(refuse)}
		subscribe, unsubscribe := c.takeDelta(m)
		if s.Send(answer) != nil {
			return
		}
		if len(subscribe)+len(unsubscribe) > 0 && s.Send(&discoveryv3.DeltaDiscoveryRequest{
			TypeUrl: typeEndpoint, ResourceNamesSubscribe: subscribe, ResourceNamesUnsubscribe: unsubscribe,
		}) != nil {
			return
		}
	}
}

// edsNamesLocked are the names of clusters whose endpoints are asked for.
func (c *wildClient) edsNamesLocked() map[string]bool {
	out := map[string]bool{}
	for name, b := range c.clusters {
		m := &clusterv3.Cluster{}
		if proto.Unmarshal([]byte(b), m) == nil && m.GetType() == clusterv3.Cluster_EDS {
			out[name] = true
		}
	}
	return out
}

func (c *wildClient) takeDelta(m *discoveryv3.DeltaDiscoveryResponse) (subscribe, unsubscribe []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.edsNamesLocked()
	have := c.versions[m.GetTypeUrl()]
	for _, r := range m.GetResources() {
		have[r.GetName()] = r.GetVersion()
		c.storeLocked(m.GetTypeUrl(), r.GetName(), r.GetResource().GetValue())
	}
	for _, name := range m.GetRemovedResources() {
		delete(have, name)
		c.dropLocked(m.GetTypeUrl(), name)
	}
	after := c.edsNamesLocked()
	for name := range after {
		if !before[name] {
			subscribe = append(subscribe, name)
		}
	}
	for name := range before {
		if !after[name] {
			unsubscribe = append(unsubscribe, name)
			delete(c.versions[typeEndpoint], name)
			delete(c.endpoints, name)
		}
	}
	return subscribe, unsubscribe
}

func (c *wildClient) storeLocked(typeURL, name string, b []byte) {
	if typeURL == typeCluster {
		c.clusters[name] = string(b)
		m := &clusterv3.Cluster{}
		if proto.Unmarshal(b, m) == nil && m.GetType() == clusterv3.Cluster_EDS {
			c.warming[name] = true
		} else {
			delete(c.warming, name)
		}
		return
	}
	if _, ok := c.clusters[name]; !ok {
		return // the cluster went while this was on the way
	}
	c.endpoints[name] = string(b)
	delete(c.warming, name)
}

func (c *wildClient) dropLocked(typeURL, name string) {
	if typeURL == typeCluster {
		delete(c.clusters, name)
		delete(c.warming, name)
	}
	delete(c.endpoints, name)
}

func (c *wildClient) runSotw(s discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesClient) {
	if s.Send(&discoveryv3.DiscoveryRequest{Node: nodeOf(c.id), TypeUrl: typeCluster}) != nil {
		return
	}
	var nonce, version string // of endpoints
	asked := false
	for {
		m, err := s.Recv()
		if err != nil {
			return
		}
		leave, refuse := c.mood()
		if leave {
			return
		}
		names, differ := c.takeSotw(m)
		if m.GetTypeUrl() == typeCluster {
			if s.Send(&discoveryv3.DiscoveryRequest{
				TypeUrl: typeCluster, ResponseNonce: m.GetNonce(), VersionInfo: m.GetVersionInfo(), ErrorDetail: refusal(refuse),
			}) != nil {
				return
			}
			if asked && !differ {
				continue
			}
			refuse = false // this is about endpoints, and no answer
		} else {
			nonce, version = m.GetNonce(), m.GetVersionInfo()
		}
		asked = true
		if s.Send(&discoveryv3.DiscoveryRequest{
			TypeUrl: typeEndpoint, ResourceNames: names, ResponseNonce: nonce, VersionInfo: version, ErrorDetail: refusal(refuse),
		}) != nil {
			return
		}
	}
}

// takeSotw returns the names to ask for, and whether they differ from before.
func (c *wildClient) takeSotw(m *discoveryv3.DiscoveryResponse) (names []string, differ bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.edsNamesLocked()
	got := map[string]bool{}
	for _, r := range m.GetResources() {
		name := nameIn(r.GetValue(), m.GetTypeUrl())
		got[name] = true
		if m.GetTypeUrl() != typeCluster || c.clusters[name] != string(r.GetValue()) {
			c.storeLocked(m.GetTypeUrl(), name, r.GetValue())
		}
	}
	if m.GetTypeUrl() == typeCluster {
		for name := range c.clusters {
			if !got[name] {
				c.dropLocked(typeCluster, name)
			}
		}
	}
	after := c.edsNamesLocked()
	for name := range before {
		if !after[name] {
			delete(c.endpoints, name)
		}
	}
	return slices.Sorted(maps.Keys(after)), !maps.Equal(before, after)
}

func nameIn(b []byte, typeURL string) string {
	if typeURL == typeCluster {
		m := &clusterv3.Cluster{}
		_ = proto.Unmarshal(b, m) // a wrong name is noticed
		return strings.Clone(m.GetName())
	}
	m := &endpointv3.ClusterLoadAssignment{}
	_ = proto.Unmarshal(b, m) // a wrong name is noticed
	return m.GetClusterName()
}
