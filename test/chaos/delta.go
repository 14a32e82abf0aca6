package chaos

import (
	"maps"
	"slices"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
)

func (c *client) runDelta(s discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesClient) {
	c.mu.Lock()
	first := &discoveryv3.DeltaDiscoveryRequest{
		Node: c.node(), TypeUrl: typeCluster, InitialResourceVersions: maps.Clone(c.versions[typeCluster]),
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

func (c *client) takeDelta(m *discoveryv3.DeltaDiscoveryResponse) (subscribe, unsubscribe []string) {
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
