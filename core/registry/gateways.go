package registry

import (
	"slices"
	"strconv"
	"strings"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// The ports of a gateway between networks, unless the Service names another.
const (
	gatewayPort      = 15443
	gatewayHBONEPort = 15008
	labelGatewayPort = "networking.istio.io/gatewayPort"
)

// compileGateways renews the gateways of all networks if one of the objects that
// define them was touched.
func (w *World) compileGateways(b *state.Builder, d *state.Diff) {
	if !w.touched.gateways && !w.touched.mesh && !w.touched.all {
		return
	}
	before := b.Current().Gateways()
	b.SetGateways(w.gateways())
	if !slices.Equal(before, b.Current().Gateways()) {
		d.Networks = true
	}
}

func (w *World) gateways() []state.Gateway {
	var out []state.Gateway
	for _, name := range w.networkNames() {
		for _, g := range w.mesh.Networks.Networks[name].GetGateways() {
			if g.GetAddress() != "" {
				out = append(out, state.Gateway{Network: model.NetworkID(name), Addr: g.GetAddress(), Port: g.GetPort()})
			}
			if host := g.GetRegistryServiceName(); host != "" {
				out = append(out, w.gatewaysOfHost(name, host, g.GetPort())...)
			}
		}
	}
	for _, key := range sortedKeys(w.gatewayServices, model.ObjectKey.Compare) {
		out = append(out, w.gatewaysOfService(key)...)
	}
	for _, g := range out {
		for _, a := range w.resolved[g.Addr] {
			found := g
			found.Name, found.Addr = g.Addr, a
			out = append(out, found)
		}
	}
	return out
}

// Resolve takes the addresses up that were found for the name of a gateway; none if
// it has none, or is not asked about any more.
func (w *World) Resolve(name string, addresses []string) {
	if len(addresses) == 0 {
		delete(w.resolved, name)
	} else {
		w.resolved[name] = addresses
	}
	w.touched.gateways = true
}

// gatewaysOfService are the external addresses of a Service labelled with a
// network.
func (w *World) gatewaysOfService(key model.ObjectKey) []state.Gateway {
	s := w.serviceOf(key.Cluster, key.Namespace, key.Name)
	if s == nil {
		return nil
	}
	port := uint32(gatewayPort)
	if n, err := strconv.ParseUint(s.Labels[labelGatewayPort], 10, 16); err == nil {
		port = uint32(n)
	}
	g := state.Gateway{Network: model.NetworkID(s.Labels[model.LabelNetwork]), Port: port, HBONEPort: gatewayHBONEPort}
	return externalGateways(w.kubeService(key, s), g)
}

// gatewaysOfHost are those of the Kubernetes Services with the hostname in the
// clusters whose registry is in the network; none takes HBONE. A network on the
// Service's own label goes before.
func (w *World) gatewaysOfHost(network, host string, port uint32) []state.Gateway {
	full, ok := strings.CutSuffix(host, ".svc."+w.mesh.DomainSuffix)
	if !ok {
		return nil // of no Kubernetes Service
	}
	name, namespace, _ := strings.Cut(full, ".")
	var out []state.Gateway
	for _, cluster := range w.clusters() {
		s := w.serviceOf(cluster, namespace, name)
		if s != nil && s.Labels[model.LabelNetwork] == "" && w.registryIn(network, cluster) {
			key := model.ObjectKey{Cluster: cluster, Kind: model.KindService, Namespace: namespace, Name: name}
			out = append(out, externalGateways(w.kubeService(key, s), state.Gateway{Network: model.NetworkID(network), Port: port})...)
		}
	}
	return out
}

// externalGateways are the gateway at each of the Service's external addresses.
func externalGateways(s *model.Service, g state.Gateway) []state.Gateway {
	g.Cluster = s.Object.Cluster
	if p := s.ExternalPorts[g.Cluster][g.Port]; p != 0 {
		g.Port = p
	}
	out := make([]state.Gateway, 0, len(s.ExternalAddresses[g.Cluster]))
	for _, g.Addr = range s.ExternalAddresses[g.Cluster] {
		out = append(out, g)
	}
	return out
}

// namesGateways tells whether the mesh's networks name Services as gateways.
func (w *World) namesGateways() bool {
	for _, n := range w.mesh.Networks.GetNetworks() {
		for _, g := range n.GetGateways() {
			if g.GetRegistryServiceName() != "" {
				return true
			}
		}
	}
	return false
}
