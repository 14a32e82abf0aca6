package eds

import (
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// Assignment is the answer for one View. It is immutable. A cluster without
// endpoints has an Assignment without localities.
type Assignment struct {
	// Cluster is the cluster's name, "outbound|80||web.shop.svc.cluster.local".
	Cluster string
	// View is what it was built for; the operands of the Reasons are in it.
	View View
	// Service is what it was built from; its Candidates are parallel to Reasons.
	// Nil if no such service is known.
	Service    *state.ServiceState
	Localities []LocalityEndpoints
	// Reasons has an element per candidate of Service, ReasonNone if it is sent.
	Reasons []model.Reason

	bytes func() []byte
}

// LocalityEndpoints are the endpoints of one locality at one priority.
type LocalityEndpoints struct {
	Locality  model.Locality
	Priority  uint32
	Weight    uint32 // 0: not set
	Endpoints []LbEndpoint

	label string // the Locality as it was written
}

// LbEndpoint is one endpoint as it is sent.
type LbEndpoint struct {
	// Candidate is the index in the service's candidates, -1 for the gateway of a
	// network.
	Candidate int
	// Address is an IP address or name; with port 0 it is the path of a pipe.
	Address string
	Port    uint32
	// More are the endpoint's other addresses, if it has several.
	More   []string
	Weight uint32 // 0: not set
	Health model.HealthStatus
	// Workload is the value of metadata istio.workload, "" if there is none.
	Workload string
	// TLSMode is the value of the transport socket match, "" if there is none.
	TLSMode string
	// Tunnel tells that it is reached through HBONE.
	Tunnel bool

	gateway *state.Gateway // of a gateway
}

// Sent counts the endpoints that are sent.
func (a *Assignment) Sent() int {
	n := 0
	for _, l := range a.Localities {
		n += len(l.Endpoints)
	}
	return n
}
