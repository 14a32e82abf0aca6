package model

// HealthStatus of an endpoint, with Istio's numbers.
type HealthStatus int

// The states of health.
const (
	HealthUnset HealthStatus = 0
	Healthy     HealthStatus = 1
	UnHealthy   HealthStatus = 2
	Draining    HealthStatus = 3
	Terminating HealthStatus = 4
)

// String gives Istio's word for the state.
func (h HealthStatus) String() string {
	switch h {
	case HealthUnset:
		return "unset"
	case Healthy:
		return "healthy"
	case UnHealthy:
		return "unhealthy"
	case Draining:
		return "draining"
	case Terminating:
		return "terminating"
	}
	return "invalid"
}

// Workload is what runs behind an address: a Pod, a WorkloadEntry, an inline
// endpoint of a ServiceEntry, or a bare address without any of these. All
// endpoints of one workload share one value.
type Workload struct {
	// Object is the Pod, WorkloadEntry or ServiceEntry; zero for a bare address.
	Object ObjectKey
	// Labels are the object's, with Istio's topology labels added.
	Labels         Labels
	Namespace      string
	Name           string // workload name, as in metadata and metrics
	ServiceAccount string // SPIFFE identity, "" if unknown
	Network        NetworkID
	Locality       Locality
	// LocalityLabel is the locality as it was written, with its empty parts.
	LocalityLabel       string
	Cluster             ClusterID
	Node                string
	TLSMode             string
	HostName, SubDomain string
	// Draining: the workload carries the label istio.io/draining.
	Draining bool
	// Captured: the ambient mesh redirects its traffic, so that it takes HBONE.
	Captured bool
}

// Endpoint is one address and port in a shard.
type Endpoint struct {
	Workload  *Workload
	Addresses []string
	PortName  string
	// Port is the number; 0 when the slice has none.
	Port uint32
	// LegacyPort is the service port by which inline clusters of ServiceEntries
	// are matched; 0 for Kubernetes.
	LegacyPort    uint32
	Weight        uint32 // 0: not set, counts as 1
	Health        HealthStatus
	SendUnhealthy bool
	// SameClusterOnly: only clients of the endpoint's cluster may have it, as its
	// service is not exported from there.
	SameClusterOnly bool
}

// Address returns the first address.
func (e *Endpoint) Address() string {
	if len(e.Addresses) == 0 {
		return ""
	}
	return e.Addresses[0]
}

// Candidate is an address and port that some object offers for a service. It
// has an Endpoint if it was admitted to the shard; otherwise the Reason says
// why it was not. Candidates are never dropped.
type Candidate struct {
	// Source is the EndpointSlice, WorkloadEntry or ServiceEntry.
	Source *ObjectKey
	// Target is the Pod that the slice refers to, or the selected workload; nil
	// if there is none.
	Target   *ObjectKey
	Address  string
	PortName string
	Port     uint32
	// Reason is ReasonNone if the candidate was admitted.
	Reason Reason
	// Endpoint is nil unless the candidate was admitted.
	Endpoint *Endpoint
}
