package state

import (
	"github.com/edsight/edsight/core/model"
)

// Diff is what differs between two snapshots, in a fixed order.
type Diff struct {
	Services []ServiceChange
	// Proxies whose properties changed, that came or that went.
	Proxies []ProxyChange
	// Configs are the Istio objects that came, went or changed.
	Configs []model.ObjectKey
	// Mesh and Networks tell that the mesh configuration changed.
	Mesh, Networks bool
	// Strays are the slices without a service that came, went or changed.
	Strays []model.ObjectKey
}

// Empty tells whether nothing differs.
func (d *Diff) Empty() bool {
	return len(d.Services) == 0 && len(d.Proxies) == 0 && len(d.Configs) == 0 && len(d.Strays) == 0 && !d.Mesh && !d.Networks
}

// ServiceChange is the difference of one service. Prev or Next is nil if the
// service came or went.
type ServiceChange struct {
	Key        model.ServiceKey
	Prev, Next *ServiceState
	// Definition tells that ports, selectors or other properties changed.
	Definition bool
	Endpoints  []EndpointChange
	// Servers are the proxies of workloads among the endpoints that changed, if
	// the ports at which these serve follow from the endpoints. Sorted.
	Servers []string
}

// EndpointChange is the difference of one candidate. Before or After is nil if
// the candidate came or went.
type EndpointChange struct {
	Shard         model.ShardKey
	Before, After *model.Candidate
}

// ChangeKind says what happened to an endpoint of the shard.
type ChangeKind string

// The kinds of changes of an endpoint.
const (
	EndpointAdded    ChangeKind = "added"
	EndpointRemoved  ChangeKind = "removed"
	EndpointChanged  ChangeKind = "changed"
	CandidateWaiting ChangeKind = "waiting" // not in the shard before or after
)

// Kind says what happened, by presence in the shard.
func (c EndpointChange) Kind() ChangeKind {
	before := c.Before != nil && c.Before.Endpoint != nil
	after := c.After != nil && c.After.Endpoint != nil
	switch {
	case before && after:
		return EndpointChanged
	case after:
		return EndpointAdded
	case before:
		return EndpointRemoved
	default:
		return CandidateWaiting
	}
}

// ProxyChange is the difference of one proxy; Prev or Next is nil if it came or
// went.
type ProxyChange struct {
	ID         string
	Prev, Next *model.Proxy
}
