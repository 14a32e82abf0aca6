package eds

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// Gateways are the gateways of networks in a form that can be compared.
type Gateways string

// NewGateways keeps the order of the list, which is that of state.Gateway.Compare.
func NewGateways(list []state.Gateway) Gateways {
	var b strings.Builder
	for _, g := range list {
		b.WriteString(strings.Join([]string{string(g.Network), string(g.Cluster), g.Addr, strconv.FormatUint(uint64(g.Port), 10)}, "\x01"))
		b.WriteByte('\x02')
	}
	return Gateways(b.String())
}

// List gives the gateways back.
func (g Gateways) List() []state.Gateway {
	var out []state.Gateway
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(g), "\x02"), "\x02") {
		f := strings.Split(entry, "\x01")
		if len(f) != 4 {
			continue
		}
		port, _ := strconv.ParseUint(f[3], 10, 32)
		out = append(out, state.Gateway{
			Network: model.NetworkID(f[0]), Cluster: model.ClusterID(f[1]), Addr: f[2], Port: uint32(port),
		})
	}
	return out
}

type networkCluster struct {
	network model.NetworkID
	cluster model.ClusterID
}

// networks finds the gateways of an endpoint's network.
type networks struct {
	proxy model.NetworkID
	list  []state.Gateway
	of    map[networkCluster][]state.Gateway // of the workloads seen so far
	// scale is the least common multiple of the numbers of gateways, so that the
	// weight of each endpoint can be divided among those of its network.
	scale uint32
}

// newNetworks returns nil in a mesh of one network.
func newNetworks(v *View) *networks {
	list := v.Gateways.List()
	if len(list) == 0 {
		return nil
	}
	n := &networks{proxy: v.Network, list: list, of: map[networkCluster][]state.Gateway{}, scale: 1}
	inCluster, inNetwork := map[networkCluster]int{}, map[model.NetworkID]int{}
	for _, g := range list {
		inCluster[networkCluster{g.Network, g.Cluster}]++
		inNetwork[g.Network]++
	}
	for _, size := range inCluster {
		n.scale = lcm(n.scale, size)
	}
	for _, size := range inNetwork {
		n.scale = lcm(n.scale, size)
	}
	return n
}

// GatewaysOf are those of a workload's network: of its cluster, if that has any.
func GatewaysOf(list []state.Gateway, w *model.Workload) []state.Gateway {
	var all, own []state.Gateway
	for _, g := range list {
		if g.Network != w.Network {
			continue // of another network
		}
		all = append(all, g)
		if g.Cluster == w.Cluster {
			own = append(own, g)
		}
	}
	if len(own) > 0 {
		return own
	}
	return all
}

// gateways that stand for an endpoint of the workload; nil if it is reached
// directly.
func (n *networks) gateways(w *model.Workload) []state.Gateway {
	if n == nil || sameNetwork(n.proxy, w.Network) {
		return nil
	}
	k := networkCluster{w.Network, w.Cluster}
	l, ok := n.of[k]
	if !ok {
		l = GatewaysOf(n.list, w)
		n.of[k] = l
	}
	return l
}

// weight scales the weight of an endpoint.
func (n *networks) weight(w uint32) uint32 {
	if n == nil {
		return w
	}
	return saturate(uint64(w) * uint64(n.scale))
}

// sameNetwork tells whether the two reach each other; whoever has no network
// reaches everybody.
func sameNetwork(a, b model.NetworkID) bool { return a == "" || b == "" || a == b }

// gatewayWeights sums up, for the endpoints of one locality, what each gateway
// stands for.
type gatewayWeights map[state.Gateway]uint32

func (gw gatewayWeights) add(gateways []state.Gateway, weight uint32) {
	for _, g := range gateways {
		gw[g] = saturate(uint64(gw[g]) + uint64(weight)/uint64(len(gateways)))
	}
}

// endpoints returns the gateways as endpoints, in order.
func (gw gatewayWeights) endpoints() []LbEndpoint {
	out := make([]LbEndpoint, 0, len(gw))
	for g, weight := range gw {
		out = append(out, LbEndpoint{
			Candidate: -1, Address: g.Addr, Port: g.Port, Weight: max(weight, 1),
			Workload: ";;;;" + string(g.Cluster), TLSMode: tlsModeIstio, gateway: &g,
		})
	}
	slices.SortFunc(out, func(a, b LbEndpoint) int {
		return cmp.Or(compareLb(a, b), a.gateway.Compare(*b.gateway))
	})
	return out
}

// lcm returns the least common multiple of a and the size of a list.
func lcm(a uint32, size int) uint32 {
	b := uint64(size) //nolint:gosec // sizes are not negative
	x, y := uint64(a), b
	for y != 0 {
		x, y = y, x%y
	}
	return saturate(uint64(a) / x * b)
}

func saturate(n uint64) uint32 {
	const most = 1<<32 - 1
	return uint32(min(n, most))
}
