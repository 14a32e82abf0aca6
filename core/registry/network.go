package registry

import (
	"net/netip"
	"slices"

	"github.com/edsight/edsight/core/model"
)

// network is that of the workload's label, else of the cluster's root namespace,
// else of the registry or address range in the mesh's networks.
func (w *World) network(cluster model.ClusterID, address string, labels map[string]string) model.NetworkID {
	if n := labels[model.LabelNetwork]; n != "" {
		return model.NetworkID(n)
	}
	root := w.objects[model.ObjectKey{Cluster: cluster, Kind: model.KindNamespace, Name: w.rootNamespace}]
	if root != nil {
		if n := root.GetLabels()[model.LabelNetwork]; n != "" {
			return model.NetworkID(n)
		}
	}
	if n, ok := w.networkOfRegistry(cluster); ok {
		return n
	}
	return w.networkOfAddress(address)
}

func (w *World) networkOfRegistry(cluster model.ClusterID) (model.NetworkID, bool) {
	for _, name := range w.networkNames() {
		if w.registryIn(name, cluster) {
			return model.NetworkID(name), true
		}
	}
	return "", false
}

// registryIn tells whether the mesh's networks put a cluster's registry into the
// network.
func (w *World) registryIn(network string, cluster model.ClusterID) bool {
	for _, e := range w.mesh.Networks.Networks[network].GetEndpoints() {
		if e.GetFromRegistry() == string(cluster) {
			return true
		}
	}
	return false
}

// networkOfAddress is the network with the widest range that has the address, as
// in Istio.
func (w *World) networkOfAddress(address string) model.NetworkID {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return ""
	}
	var found model.NetworkID
	widest := ip.BitLen() + 1
	for _, name := range w.networkNames() {
		for _, e := range w.mesh.Networks.Networks[name].GetEndpoints() {
			p, err := netip.ParsePrefix(e.GetFromCidr())
			if err == nil && p.Contains(ip) && p.Bits() < widest {
				found, widest = model.NetworkID(name), p.Bits()
			}
		}
	}
	return found
}

// networkNames in order, so that overlapping ranges have a defined winner.
func (w *World) networkNames() []string {
	names := make([]string, 0, len(w.mesh.Networks.GetNetworks()))
	for n := range w.mesh.Networks.GetNetworks() {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
