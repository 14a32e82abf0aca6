package audit

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	meshconfig "istio.io/api/mesh/v1alpha1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

const namedGateway = " is a name for which no address is known, so it stands for no endpoint that is sent by address"

// networks finds ranges that cannot be read, and gateways that stand for nothing.
func networks(snap *state.Snapshot) []Problem {
	var out []Problem
	all := snap.Mesh.Networks.GetNetworks()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		field := "data.meshNetworks.networks." + name
		find := func(at string, i int, message, remedy string) {
			out = append(out, Problem{Object: meshKey(snap), Field: fmt.Sprintf("%s.%s[%d]", field, at, i), Message: message, Remedy: remedy})
		}
		for i, e := range all[name].GetEndpoints() {
			if r := e.GetFromCidr(); r != "" {
				if _, err := netip.ParsePrefix(r); err != nil {
					find("endpoints", i, r+" is not a range, and is passed over", "write it as in 10.0.0.0/8")
				}
			}
		}
		for i, g := range all[name].GetGateways() {
			if message, remedy := gatewayProblem(snap, name, g); message != "" {
				find("gateways", i, message, remedy)
			}
		}
	}
	return append(out, namedServices(snap)...)
}

func gatewayProblem(snap *state.Snapshot, network string, g *meshconfig.Network_IstioNetworkGateway) (message, remedy string) {
	if a := g.GetAddress(); a != "" && !model.IsIP(a) && !snap.LookedUp(a) {
		return a + namedGateway, "write the gateway's IP address"
	}
	host := g.GetRegistryServiceName()
	if host == "" || slices.ContainsFunc(snap.Gateways(), func(have state.Gateway) bool { return have.Network == model.NetworkID(network) && have.Cluster != "" }) {
		return "", ""
	}
	for svc := range snap.ServicesOf(model.Hostname(host)) {
		if d := svc.Definition(); d != nil && d.Provider == model.ProviderKubernetes {
			return "Service " + host + " has no external address, or none of the network's endpoints is fromRegistry of its cluster, so it is no gateway",
				"give the Service an external address, and the network its cluster as fromRegistry"
		}
	}
	return "no Service has the hostname " + host, "write the Service's full name"
}

// namedServices finds the Services for a network whose external address is a name.
func namedServices(snap *state.Snapshot) []Problem {
	var out []Problem
	named := map[string]bool{}
	for _, g := range snap.Gateways() {
		if g.Cluster != "" && !g.Addressed() && !snap.LookedUp(g.Addr) {
			named[g.Addr] = true
		}
	}
	if len(named) == 0 {
		return nil
	}
	for svc := range snap.Services() {
		for _, d := range svc.Definitions {
			for _, cluster := range slices.Sorted(maps.Keys(d.VIPs)) {
				own := d.In(cluster)
				if own == nil {
					continue // imported there only
				}
				for _, a := range own.ExternalAddresses[cluster] {
					if named[a] {
						out = append(out, Problem{
							Object: own.Object, Field: "status.loadBalancer", Message: "the gateway's address " + a + namedGateway,
							Remedy: "name the gateway by IP address, in externalIPs or in meshNetworks",
						})
					}
				}
			}
		}
	}
	return out
}

// exportDefaults finds namespaces among the mesh's defaults for exportTo, which do
// not count there.
func exportDefaults(snap *state.Snapshot) []Problem {
	var out []Problem
	c := snap.Mesh.Config
	for _, d := range []struct {
		field, kind string
		to          []string
	}{
		{"defaultServiceExportTo", "service", c.GetDefaultServiceExportTo()},
		{"defaultVirtualServiceExportTo", "VirtualService", c.GetDefaultVirtualServiceExportTo()},
	} {
		for i, ns := range d.to {
			if ns != "*" && ns != "." && ns != "~" {
				out = append(out, Problem{
					Object: meshKey(snap), Field: fmt.Sprintf("data.mesh.%s[%d]", d.field, i),
					Message: "a namespace does not count among the defaults: " + ns + " sees no " + d.kind + " by this",
					Remedy:  `use "*" or "." here, and name namespaces in exportTo of the object itself`,
				})
			}
		}
	}
	return out
}
