package registry

import (
	"net/netip"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/edsight/edsight/core/model"
)

// clusterSetSuffix ends the hosts that ServiceImports make.
const clusterSetSuffix = "clusterset.local"

// hostsOfName are the hosts of a Kubernetes Service of that name: its own, and
// with ServiceImports the one for the set of clusters.
func (w *World) hostsOfName(namespace, name string) []model.ServiceKey {
	out := []model.ServiceKey{w.hostOfName(namespace, name)}
	if w.features.ServiceImports {
		out = append(out, ClusterSetHost(model.ObjectKey{Namespace: namespace, Name: name}))
	}
	return out
}

// ClusterSetHost is the host that a ServiceImport makes.
func ClusterSetHost(imported model.ObjectKey) model.ServiceKey {
	host := model.Hostname(imported.Name + "." + imported.Namespace + ".svc." + clusterSetSuffix)
	return model.ServiceKey{Hostname: host, Namespace: imported.Namespace}
}

// clusterSetName is the name of the Service that a host for the set of clusters
// stands for; false if it is no such host.
func (w *World) clusterSetName(key model.ServiceKey) (string, bool) {
	if !w.features.ServiceImports {
		return "", false
	}
	return cutHost(key, clusterSetSuffix)
}

// imported makes the definition that a ServiceImport of one cluster gives: that
// of the Service with other addresses. Nil without a ServiceImport that has
// addresses, or without a Service anywhere.
func (w *World) imported(key model.ServiceKey, name string, cluster model.ClusterID, service *model.Service) *model.Service {
	object := model.ObjectKey{Cluster: cluster, Kind: model.KindServiceImport, Namespace: key.Namespace, Name: name}
	si, _ := w.objects[object].(*unstructured.Unstructured)
	if si == nil || service == nil {
		return nil
	}
	addresses, _, _ := unstructured.NestedStringSlice(si.Object, "spec", "ips")
	addresses = slices.DeleteFunc(slices.Clone(addresses), func(a string) bool {
		_, err := netip.ParseAddr(a)
		return err != nil
	})
	if len(addresses) == 0 {
		return nil
	}
	slices.Sort(addresses)
	out := *service
	out.Key, out.DefaultAddress, out.PerCluster = key, addresses[0], nil
	out.VIPs = map[model.ClusterID][]string{cluster: addresses}
	return &out
}

// sameClusterOnly tells whether the endpoints of a service in a cluster are for
// clients of that cluster alone. Def is nil if the cluster has no such service.
func (w *World) sameClusterOnly(cluster model.ClusterID, namespace, name string, host model.Hostname, def *model.Service) bool {
	if !w.features.ServiceExports {
		return false
	}
	_, exported := w.objects[model.ObjectKey{Cluster: cluster, Kind: model.KindServiceExport, Namespace: namespace, Name: name}]
	_, set := cutHost(model.ServiceKey{Hostname: host, Namespace: namespace}, clusterSetSuffix)
	return def == nil || !exported || w.features.ClusterLocalHosts && !set
}
