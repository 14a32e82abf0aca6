package eds

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/edsight/edsight/core/model"
)

// View is all that the assignment of a cluster depends on besides the state of
// its service. It is normalised: what does not change the result for this
// service is left at its zero value, so that proxies which get the same bytes
// have equal Views. A View can be the key of a map.
type View struct {
	// Cluster is the name of the cluster.
	Cluster string
	Service model.ServiceKey
	// PortName of the service port, by which endpoints are matched.
	PortName string
	// Port is the number of the service port. Inline clusters match the endpoints
	// of ServiceEntries by it.
	Port uint32
	// Inline is true for the assignment inside of a STATIC or DNS cluster.
	Inline bool
	// Subset holds the labels that an endpoint must have.
	Subset Pairs

	// ProxyCluster is set if it matters to which cluster an endpoint belongs.
	ProxyCluster model.ClusterID
	ClusterLocal bool
	// Node is the proxy's, if only endpoints of its node count.
	Node      string
	NodeLocal bool
	// NetworkView holds the networks that the proxy asked for, as keys.
	NetworkView Pairs

	// SendUnhealthy: the service has a traffic distribution, and Envoy is told of
	// unhealthy endpoints. PersistentSession: of draining ones.
	SendUnhealthy, PersistentSession bool

	// TLS is how mTLS is decided; PeerAuth are the PeerAuthentications that turn it
	// off for some endpoints; MTLSOnly leaves out endpoints without mTLS.
	TLS      TLS
	PeerAuth PeerAuth
	MTLSOnly bool
	// HBONE: the proxy can tunnel. PreferHBONE: it does so even where mTLS is possible.
	HBONE, PreferHBONE bool

	// Gateways of all networks; empty in a mesh of one network. Network is the
	// proxy's, set only if there are gateways.
	Gateways Gateways
	Network  model.NetworkID

	Locality Locality
}

// TLS is what the client's DestinationRule says about mTLS.
type TLS uint8

// The possibilities: as the endpoint can, always, never.
const (
	TLSAuto TLS = iota
	TLSMutual
	TLSOther
)

// Locality is the locality load balancing in force.
type Locality struct {
	// Distribute has the weights by locality pattern that hold for the proxy's
	// locality; empty if there are none.
	Distribute Pairs
	// Priority holds the labels of failoverPriority in order, each with the value
	// that the proxy has.
	Priority Pairs
	// Failover tells that localities are ordered by closeness to Proxy.
	Failover bool
	Proxy    model.Locality
	// To is the region to which Proxy's region fails over; only with HasTo.
	To    string
	HasTo bool
}

// Pairs is a list of keys and values in a form that can be compared.
type Pairs string

// NewPairs makes Pairs of labels, in the order of their keys.
func NewPairs(m map[string]string) Pairs {
	var p Pairs
	for _, k := range slices.Sorted(maps.Keys(m)) {
		p = p.Append(k, m[k])
	}
	return p
}

// Append returns p with one more pair at the end.
func (p Pairs) Append(key, value string) Pairs {
	return p + Pairs(key+"\x01"+value+"\x02")
}

// All iterates over the pairs in order.
func (p Pairs) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for rest := string(p); rest != ""; {
			var pair string
			pair, rest, _ = strings.Cut(rest, "\x02")
			k, v, _ := strings.Cut(pair, "\x01")
			if !yield(k, v) {
				return
			}
		}
	}
}

// Has tells whether the key is there.
func (p Pairs) Has(key string) bool {
	for k := range p.All() {
		if k == key {
			return true
		}
	}
	return false
}

// In tells whether every pair is among the labels.
func (p Pairs) In(labels model.Labels) bool {
	for k, v := range p.All() {
		if have, ok := labels[k]; !ok || have != v {
			return false
		}
	}
	return true
}
