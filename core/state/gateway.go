package state

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/edsight/edsight/core/model"
)

// Gateway is an address by which the endpoints of a network are reached from
// other networks. It comes from meshNetworks or from a Service with the label
// topology.istio.io/network.
type Gateway struct {
	Network model.NetworkID
	// Cluster is the cluster of the gateway's Service, "" for an address of
	// meshNetworks.
	Cluster model.ClusterID
	// Addr is an IP address or a DNS name; only inline clusters can use the latter.
	Addr      string
	Port      uint32
	HBONEPort uint32
	// Name is what Addr was looked up for, "" if Addr is as written.
	Name string `json:",omitempty"`
}

// Addressed tells whether the gateway is an IP address. A name is for those clients
// alone that resolve the names of a cluster themselves; the others have the addresses
// that were looked up for it.
func (g Gateway) Addressed() bool {
	_, err := netip.ParseAddr(g.Addr)
	return err == nil
}

// Compare orders by address, port, network and cluster.
func (g Gateway) Compare(o Gateway) int {
	return cmp.Or(
		strings.Compare(g.Addr, o.Addr),
		cmp.Compare(g.Port, o.Port),
		strings.Compare(string(g.Network), string(o.Network)),
		strings.Compare(string(g.Cluster), string(o.Cluster)),
		strings.Compare(g.Name, o.Name),
	)
}

// Gateways returns the gateways of all networks in order.
func (s *Snapshot) Gateways() []Gateway { return s.gateways }

// LookedUp tells whether addresses were found for the name of a gateway.
func (s *Snapshot) LookedUp(name string) bool {
	return slices.ContainsFunc(s.gateways, func(g Gateway) bool { return name != "" && g.Name == name })
}

// SetGateways replaces the gateways of all networks.
func (b *Builder) SetGateways(gateways []Gateway) {
	gateways = slices.Clone(gateways)
	slices.SortFunc(gateways, Gateway.Compare)
	b.next.gateways = slices.Compact(gateways)
}
