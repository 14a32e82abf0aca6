package model

import (
	"slices"
	"time"
)

// Resolution says how a service's addresses come about.
type Resolution int

// The resolutions, with Istio's numbers.
const (
	ClientSideLB    Resolution = 0
	DNSLB           Resolution = 1
	Passthrough     Resolution = 2
	DNSRoundRobinLB Resolution = 3
	Alias           Resolution = 4
	DynamicDNS      Resolution = 5
)

// Text is the resolution in the words of the API.
func (r Resolution) Text() string {
	switch r {
	case ClientSideLB:
		return "STATIC"
	case DNSLB:
		return "DNS"
	case Passthrough:
		return "NONE"
	case DNSRoundRobinLB:
		return "DNS_ROUND_ROBIN"
	case Alias:
		return "ExternalName"
	case DynamicDNS:
		return "DYNAMIC_DNS"
	}
	return "unknown"
}

// TrafficDistribution says whether endpoints near the client are preferred.
type TrafficDistribution int

// The traffic distributions, with Istio's numbers.
const (
	DistributionAny            TrafficDistribution = 0
	DistributionPreferSameZone TrafficDistribution = 1
	DistributionPreferSameNode TrafficDistribution = 2
)

// Port is a port of a service.
type Port struct {
	Name     string
	Number   uint32
	Protocol Protocol
	// TargetPort is the numeric target port, 0 when it is named or absent.
	TargetPort uint32
	// TargetPortName is the named target port, "" when it is numeric or absent.
	TargetPortName string
}

// Service is one definition of a host: a Kubernetes Service (merged over the
// clusters which have it), or one host of a ServiceEntry.
type Service struct {
	Key      ServiceKey
	Name     string // Attributes.Name: the Service's name, or the host of a ServiceEntry
	Provider Provider
	// Object is the defining object; ObjectName is set for ServiceEntries only.
	Object          ObjectKey
	ObjectName      string
	ResourceVersion string
	Created         time.Time
	Labels          Labels
	// Ports in the order of the object.
	Ports      []Port
	Resolution Resolution
	// MeshExternal is true for services outside the mesh.
	MeshExternal bool
	// ExportTo as written, sorted; nil when the object says nothing.
	ExportTo        []string
	ServiceAccounts []string
	// Selector of workloads, nil when the service has none.
	Selector Labels
	// DefaultAddress is the VIP in the config cluster, "0.0.0.0" without one.
	DefaultAddress                   string
	AutoAllocatedV4, AutoAllocatedV6 string
	// PerCluster has the definitions of the single clusters, if several have the
	// Service; the workloads of a cluster serve the ports that theirs says.
	PerCluster map[ClusterID]*Service
	// VIPs per cluster; nil where Istio's registry has none.
	VIPs map[ClusterID][]string
	// ExternalAddresses (load balancer, externalIPs, node addresses) per cluster.
	ExternalAddresses map[ClusterID][]string
	// ExternalPorts maps service port to node port, per cluster.
	ExternalPorts       map[ClusterID]map[uint32]uint32
	Type                string // Kubernetes service type
	ExternalName        string
	Aliases             []ServiceKey
	NodeLocal           bool
	TrafficDistribution TrafficDistribution
	PublishNotReady     bool
	// PersistentSession and PersistentSessionHeader: the Service has the label.
	PersistentSession, PersistentSessionHeader bool
	// PassthroughTargetPorts maps service port to target port of headless or
	// NONE services where they differ.
	PassthroughTargetPorts map[uint32]uint32
}

// Port returns the service port with that number.
func (s *Service) Port(number uint32) (Port, bool) {
	for _, p := range s.Ports {
		if p.Number == number {
			return p, true
		}
	}
	return Port{}, false
}

// In returns the definition as one cluster has it, nil if the cluster has not.
func (s *Service) In(cluster ClusterID) *Service {
	if s.PerCluster != nil {
		return s.PerCluster[cluster]
	}
	if _, ok := s.VIPs[cluster]; !ok && s.Provider == ProviderKubernetes {
		return nil
	}
	return s
}

// Hidden tells whether exportTo has "~". Of such a Kubernetes Service no endpoints
// are taken, even where a "*" beside it lets every namespace see the Service.
func (s *Service) Hidden() bool { return slices.Contains(s.ExportTo, "~") }
