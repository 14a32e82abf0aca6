package debugz

import (
	"iter"
	"slices"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
)

// Cluster is an element of clusterz.
type Cluster struct {
	ID         model.ClusterID `json:"id"`
	SecretName string          `json:"secretName"`
	SyncStatus string          `json:"syncStatus"`
}

// Clusters gives the elements of clusterz.
func Clusters(s source.Status) []Cluster {
	all := make([]Cluster, len(s.Clusters))
	for i, c := range s.Clusters {
		all[i] = Cluster{ID: c.ID, SecretName: c.SecretName, SyncStatus: c.Sync}
	}
	return all
}

// Gateway is an element of networkz.
type Gateway struct {
	Network        model.NetworkID
	Cluster        model.ClusterID
	Addr           string
	Port           uint32
	HBONEPort      uint32
	ServiceAccount struct{ Namespace, Name string }
}

// Gateways gives the elements of networkz, nil if there are none: the gateways
// with an address, as only those stand for endpoints of EDS clusters.
func Gateways(snap *state.Snapshot) []Gateway {
	var all []Gateway
	for _, g := range snap.Gateways() {
		if g.Addressed() {
			all = append(all, Gateway{Network: g.Network, Cluster: g.Cluster, Addr: g.Addr, Port: g.Port, HBONEPort: g.HBONEPort})
		}
	}
	return slices.Compact(all) // two names may have one address
}

// Instance is a service, at one of its ports, of which a proxy's workload is an
// endpoint.
type Instance struct {
	Service *Service
	Port    InstancePort
}

// InstancePort is the port of an Instance.
type InstancePort struct {
	ServicePort
	TargetPort uint32
}

// Instances gives the members of instancesz by the proxy's ID: for each the
// services that its workload serves.
func Instances(snap *state.Snapshot) iter.Seq2[string, []Instance] {
	return func(yield func(string, []Instance) bool) {
		var scopes scope.Cache
		for p := range snap.Proxies() {
			targets := cds.Targets(scopes.For(snap, p).DefinitionsIn(p.Namespace), snap, p)
			list := make([]Instance, len(targets))
			for i, t := range targets {
				list[i] = Instance{Service: NewService(t.Definition), Port: InstancePort{
					ServicePort: ServicePort{Name: t.Port.Name, Port: t.Port.Number, Protocol: t.Port.Protocol}, TargetPort: t.TargetPort,
				}}
			}
			if !yield(p.ID, list) {
				return
			}
		}
	}
}
