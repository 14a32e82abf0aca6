package debugz

import (
	"cmp"
	"slices"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/state"
)

// ClusterSetService is an element of mcsz: what one cluster exports to the set of
// clusters, or imports from it, under one name.
type ClusterSetService struct {
	Cluster         model.ClusterID
	Name            string
	Namespace       string
	Exported        bool
	Imported        bool
	ClusterSetVIP   string
	Discoverability map[model.Hostname]string
}

// Who may have the endpoints that a cluster has for a host, in Istio's words.
const (
	discoverableAlways = "AlwaysDiscoverable"
	discoverableWithin = "DiscoverableFromSameCluster"
)

// ClusterSet gives the elements of mcsz by cluster, namespace and name. It is nil,
// as istiod's, if there are none or the features that read them are off.
func ClusterSet(snap *state.Snapshot) []ClusterSetService {
	var all []ClusterSetService
	if snap.Mesh.Features.ServiceExports {
		for c := range snap.Configs(model.KindServiceExport) {
			s := newClusterSetService(c.Key)
			s.Exported, s.Discoverability = true, discoverability(snap, c.Key)
			all = append(all, s)
		}
	}
	if snap.Mesh.Features.ServiceImports {
		for c := range snap.Configs(model.KindServiceImport) {
			s := newClusterSetService(c.Key)
			i := slices.IndexFunc(all, func(e ClusterSetService) bool { return e.compare(s) == 0 })
			if i < 0 {
				i = len(all)
				all = append(all, s)
			}
			all[i].Imported = true
			if d := definitionIn(snap, registry.ClusterSetHost(c.Key), c.Key.Cluster); d != nil {
				all[i].ClusterSetVIP = d.DefaultAddress
			}
		}
	}
	slices.SortFunc(all, ClusterSetService.compare)
	return all
}

func newClusterSetService(k model.ObjectKey) ClusterSetService {
	return ClusterSetService{Cluster: k.Cluster, Name: k.Name, Namespace: k.Namespace}
}

func (s ClusterSetService) compare(o ClusterSetService) int {
	return cmp.Or(cmp.Compare(s.Cluster, o.Cluster), cmp.Compare(s.Namespace, o.Namespace), cmp.Compare(s.Name, o.Name))
}

// discoverability of the hosts of an exported Service that the cluster itself has.
func discoverability(snap *state.Snapshot, export model.ObjectKey) map[model.Hostname]string {
	out := map[model.Hostname]string{}
	own := model.ServiceKey{
		Hostname:  model.Hostname(export.Name + "." + export.Namespace + ".svc." + snap.Mesh.DomainSuffix),
		Namespace: export.Namespace,
	}
	if definitionIn(snap, own, export.Cluster) != nil {
		out[own.Hostname] = discoverableAlways
		if snap.Mesh.Features.ClusterLocalHosts {
			out[own.Hostname] = discoverableWithin
		}
	}
	if set := registry.ClusterSetHost(export); definitionIn(snap, set, export.Cluster) != nil {
		out[set.Hostname] = discoverableAlways
	}
	return out
}

// definitionIn is a Kubernetes definition as one cluster has it, nil if it has not.
func definitionIn(snap *state.Snapshot, key model.ServiceKey, cluster model.ClusterID) *model.Service {
	svc := snap.Service(key)
	if svc == nil {
		return nil
	}
	for _, d := range svc.Definitions {
		if d.Provider == model.ProviderKubernetes {
			return d.In(cluster)
		}
	}
	return nil
}
