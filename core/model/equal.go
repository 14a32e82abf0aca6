package model

import (
	"maps"
	"slices"
)

// Equal compares by value.
func (w *Workload) Equal(o *Workload) bool {
	if w == o || w == nil || o == nil {
		return w == o
	}
	return w.Object == o.Object && w.Namespace == o.Namespace && w.Name == o.Name && w.ServiceAccount == o.ServiceAccount &&
		w.Network == o.Network && w.Locality == o.Locality && w.LocalityLabel == o.LocalityLabel && w.Cluster == o.Cluster &&
		w.Node == o.Node && w.TLSMode == o.TLSMode && w.HostName == o.HostName && w.SubDomain == o.SubDomain &&
		w.Draining == o.Draining && w.Captured == o.Captured && maps.Equal(w.Labels, o.Labels)
}

// Equal compares by value.
func (p *Proxy) Equal(o *Proxy) bool {
	if p == o || p == nil || o == nil {
		return p == o
	}
	return p.ID == o.ID && p.Type == o.Type && p.Pod == o.Pod && p.Namespace == o.Namespace && p.Cluster == o.Cluster &&
		p.Network == o.Network && p.WorkloadNetwork == o.WorkloadNetwork && p.Node == o.Node && p.Locality == o.Locality && p.ServiceAccount == o.ServiceAccount &&
		p.Version == o.Version && p.NoHBONE == o.NoHBONE && p.GRPC == o.GRPC && slices.Equal(p.IPs, o.IPs) &&
		slices.Equal(p.NetworkView, o.NetworkView) && maps.Equal(p.Labels, o.Labels) && maps.Equal(p.ContainerPorts, o.ContainerPorts)
}
