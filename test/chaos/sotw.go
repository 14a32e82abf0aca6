package chaos

import (
	"maps"
	"slices"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/proto"
)

func (c *client) runSotw(s discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesClient) {
	if s.Send(&discoveryv3.DiscoveryRequest{Node: c.node(), TypeUrl: typeCluster}) != nil {
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
func (c *client) takeSotw(m *discoveryv3.DiscoveryResponse) (names []string, differ bool) {
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
