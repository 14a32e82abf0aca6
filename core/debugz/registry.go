package debugz

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// Service is an element of registryz.
type Service struct {
	Attributes      ServiceAttributes `json:"Attributes"`
	Ports           []ServicePort     `json:"ports,omitempty"`
	ServiceAccounts []string          `json:"serviceAccounts,omitempty"`
	CreationTime    time.Time         `json:"creationTime"`
	Hostname        model.Hostname    `json:"hostname"`
	ClusterVIPs     AddressMap        `json:"clusterVIPs"`
	DefaultAddress  string            `json:"defaultAddress"`
	AutoAllocatedV4 string            `json:"autoAllocatedIPv4Address,omitempty"`
	AutoAllocatedV6 string            `json:"autoAllocatedIPv6Address,omitempty"`
	Resolution      model.Resolution  `json:"Resolution"`
	MeshExternal    bool              `json:"MeshExternal"`
	ResourceVersion string            `json:"ResourceVersion"`
}

// ServiceAttributes are what only some of Istio's code looks at.
type ServiceAttributes struct {
	ServiceRegistry          model.Provider
	Name                     string
	Namespace                string
	Labels                   model.Labels
	ExportTo                 map[string]struct{}
	LabelSelectors           model.Labels
	Aliases                  []NamespacedHostname
	ClusterExternalAddresses *AddressMap
	ClusterExternalPorts     map[model.ClusterID]map[uint32]uint32
	PassthroughTargetPorts   map[uint32]uint32
	Type                     string
	ExternalName             string
	NodeLocal                bool
	TrafficDistribution      model.TrafficDistribution
	ObjectName               string
	PublishNotReadyAddresses bool
}

// NamespacedHostname is one alias of a service.
type NamespacedHostname struct {
	Hostname  model.Hostname
	Namespace string
}

// AddressMap holds addresses per cluster.
type AddressMap struct {
	Addresses map[model.ClusterID][]string
}

// ServicePort is a port of a service.
type ServicePort struct {
	Name     string         `json:"name,omitempty"`
	Port     uint32         `json:"port"`
	Protocol model.Protocol `json:"protocol"`
}

// Registry gives the elements of registryz in Istio's order: Kubernetes
// services by hostname, then those of ServiceEntries by age.
func Registry(snap *state.Snapshot) iter.Seq[*Service] {
	return func(yield func(*Service) bool) {
		var external []*model.Service
		for svc := range snap.Services() {
			for _, d := range svc.Definitions {
				if d.Provider != model.ProviderKubernetes {
					external = append(external, d)
				} else if !yield(NewService(d)) {
					return
				}
			}
		}
		slices.SortStableFunc(external, compareAge)
		for _, d := range external {
			if !yield(NewService(d)) {
				return
			}
		}
	}
}

func compareAge(a, b *model.Service) int {
	return cmp.Or(a.Created.Compare(b.Created), a.Object.Compare(b.Object))
}

// NewService gives one definition as registryz shows it.
func NewService(d *model.Service) *Service {
	s := &Service{
		Attributes: attributes(d),
		Ports:      make([]ServicePort, len(d.Ports)), ServiceAccounts: d.ServiceAccounts,
		CreationTime: d.Created.UTC(), Hostname: d.Key.Hostname,
		ClusterVIPs: AddressMap{Addresses: d.VIPs}, DefaultAddress: d.DefaultAddress,
		AutoAllocatedV4: d.AutoAllocatedV4, AutoAllocatedV6: d.AutoAllocatedV6,
		Resolution: d.Resolution, MeshExternal: d.MeshExternal, ResourceVersion: d.ResourceVersion,
	}
	for i, p := range d.Ports {
		s.Ports[i] = ServicePort{Name: p.Name, Port: p.Number, Protocol: p.Protocol}
	}
	return s
}

func attributes(d *model.Service) ServiceAttributes {
	a := ServiceAttributes{
		ServiceRegistry: d.Provider, Name: d.Name, Namespace: d.Key.Namespace, Labels: d.Labels,
		LabelSelectors: d.Selector, ClusterExternalPorts: d.ExternalPorts,
		PassthroughTargetPorts: d.PassthroughTargetPorts, Type: d.Type, ExternalName: d.ExternalName,
		NodeLocal: d.NodeLocal, TrafficDistribution: d.TrafficDistribution, ObjectName: d.ObjectName,
		PublishNotReadyAddresses: d.PublishNotReady,
	}
	if d.ExternalAddresses != nil {
		a.ClusterExternalAddresses = &AddressMap{Addresses: d.ExternalAddresses}
	}
	if d.ExportTo != nil {
		a.ExportTo = make(map[string]struct{}, len(d.ExportTo))
	}
	for _, ns := range d.ExportTo {
		a.ExportTo[ns] = struct{}{}
	}
	for _, k := range d.Aliases {
		a.Aliases = append(a.Aliases, NamespacedHostname(k))
	}
	return a
}
