package explain

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
)

// portAbsent says why the definition in use has no such port for this proxy.
func (x *inquiry) portAbsent() finding {
	d := x.imp.Definition
	if p, ok := d.Port(x.q.Port); ok {
		return finding{
			cause: ServicePortAbsent, step: StepPort, object: d.Object,
			why:      "port " + number(p.Number) + " of " + x.name(d.Object) + " is UDP, for which proxies have no cluster",
			remedy:   "use a TCP port",
			evidence: []Evidence{{Object: d.Object, Field: "spec.ports.protocol", Want: "TCP", Have: string(p.Protocol)}},
		}
	}
	for _, whole := range x.definitionsOf(d.Key) {
		_, has := whole.Port(x.q.Port)
		switch {
		case has && whole.Object == d.Object:
			return x.portNotImported(whole)
		case has:
			return x.portNotMerged(whole)
		}
	}
	have := portsText(x.wholePorts(d))
	f := finding{
		cause: ServicePortAbsent, step: StepPort, object: d.Object,
		why:      x.name(d.Object) + " has no port " + number(x.q.Port) + ", only " + have,
		remedy:   "ask for one of these ports, or add port " + number(x.q.Port) + " to " + x.name(d.Object),
		evidence: []Evidence{{Object: d.Object, Field: "spec.ports", Want: number(x.q.Port), Have: have}},
	}
	for _, p := range x.wholePorts(d) {
		if p.TargetPort == x.q.Port {
			f.why += "; " + number(x.q.Port) + " is the target port of port " + number(p.Number)
		}
	}
	for _, e := range x.excludedAs(scope.WhyOtherWon, scope.WhyKubernetesWon, scope.WhyOlderWon) {
		if _, ok := e.Definition.Port(x.q.Port); ok {
			f.why += "; " + x.name(e.Definition.Object) + " has it, but " + x.name(d.Object) + " is used, as " + wonBecause(x.imp, d, e)
		}
	}
	for _, cluster := range slices.Sorted(maps.Keys(d.PerCluster)) {
		if _, ok := d.PerCluster[cluster].Port(x.q.Port); ok {
			f.why += "; that of cluster " + string(cluster) + " has it, and the ports of cluster " + string(d.Object.Cluster) + " count"
			break
		}
	}
	return f
}

// wholePorts are the ports of a definition, whether or not the proxy imports them.
func (x *inquiry) wholePorts(d *model.Service) []model.Port {
	for _, whole := range x.definitionsOf(d.Key) {
		if whole.Object == d.Object && len(whole.Ports) > len(d.Ports) {
			return whole.Ports
		}
	}
	return d.Ports
}

// portNotImported says that the Sidecar's listener, or the VirtualService by which
// the service is in scope, imports only some of its ports.
func (x *inquiry) portNotImported(whole *model.Service) finding {
	f := x.outsideSidecar(whole)
	have := portsText(x.imp.Definition.Ports)
	f.why += "; imported is only " + have
	if x.imp.Via.Kind == model.KindVirtualService {
		f.why += ", to which " + x.name(x.imp.Via) + " sends requests"
	}
	return f.with(Evidence{Object: x.imp.Via, Field: "imported ports", Want: number(x.q.Port), Have: have})
}

// portNotMerged says that another definition of the same namespace has the port,
// and why it is not part of the one in use.
func (x *inquiry) portNotMerged(other *model.Service) finding {
	d := x.imp.Definition
	why, different := "it is the older one", difference(d, other)
	remedy := "put all ports into one object"
	switch {
	case d.Provider != other.Provider:
		why = "a Kubernetes Service goes before ServiceEntries, and the ports of the two are not merged"
		remedy = "add port " + number(x.q.Port) + " to " + x.name(d.Object) + ", or give the entry another host"
	case different != "":
		why += ", and the two cannot be merged since they differ in " + different
		remedy += ", or make the two alike in these"
	default:
		why += " or the ports of the two are alike"
	}
	return finding{
		cause: PortNotMerged, step: StepDefinition, object: d.Object,
		why: "port " + number(x.q.Port) + " of " + string(x.q.Host) + " is one of " + x.name(other.Object) + " (ports " + portsText(other.Ports) + "), but " +
			x.name(d.Object) + " (ports " + portsText(d.Ports) + ") is used, as " + why,
		remedy: remedy,
		evidence: []Evidence{
			{Object: d.Object, Field: "spec.ports", Want: number(x.q.Port), Have: portsText(d.Ports)},
			{Object: other.Object, Field: "spec.ports", Have: portsText(other.Ports)},
			{Object: other.Object, Field: "differs in", Have: different},
		},
	}
}

// difference names the fields that keep the ports of two definitions from being
// merged.
func difference(a, b *model.Service) string {
	var parts []string
	add := func(same bool, what string) {
		if !same {
			parts = append(parts, what)
		}
	}
	add(a.Resolution == b.Resolution, "resolution ("+a.Resolution.Text()+", "+b.Resolution.Text()+")")
	add(slices.Equal(a.ExportTo, b.ExportTo), "exportTo ("+cmp.Or(strings.Join(a.ExportTo, ", "), "none")+"; "+cmp.Or(strings.Join(b.ExportTo, ", "), "none")+")")
	add(maps.Equal(a.Labels, b.Labels), "labels ("+labelText(a.Labels)+"; "+labelText(b.Labels)+")")
	add(maps.Equal(a.Selector, b.Selector), "selector ("+labelText(a.Selector)+"; "+labelText(b.Selector)+")")
	return strings.Join(parts, ", ")
}

// notEDS says where the endpoints of the cluster come from instead.
func (x *inquiry) notEDS() finding {
	d := x.imp.Definition
	kind := x.clusterType()
	f := finding{cause: NotEDS, step: StepCluster, object: d.Object}
	by := x.name(d.Object) + " has"
	if entry := x.sourceEntry(d); entry != d.Object {
		by = x.name(entry) + " offers it, and " + x.name(d.Object) + ", which is the definition in use, has"
	}
	switch {
	case d.Resolution == model.Passthrough && d.Provider == model.ProviderExternal:
		f.cause = ResolutionNone
		f.why = by + " resolution: NONE, so the cluster is " + string(kind) + ": requests go to the address that the client asked for"
		f.remedy = "use resolution DNS (or STATIC, with endpoints) in " + x.name(d.Object) + ", if requests should not go where the client asks"
		if len(d.Selector) > 0 || x.offersAny() {
			f.why += ", and the entry's endpoints and workloadSelector have no effect"
			f.remedy = "set the resolution of " + x.name(d.Object) + " to STATIC"
		}
	case d.Resolution == model.DynamicDNS:
		f.why = by + " resolution: DYNAMIC_DNS, which is for waypoints only: no other proxy has a cluster for it"
		f.remedy = "use resolution DNS for hosts without wildcard, or NONE"
	case d.Resolution == model.Passthrough:
		f.why = x.name(d.Object) + " is headless (clusterIP: None), so the cluster is " + string(kind) + ": requests go to the Pod that the client resolved, and EDS has nothing"
		f.remedy = "look at DNS and at the listeners of the proxy, or give the Service a cluster IP"
	case d.Resolution == model.DNSLB || d.Resolution == model.DNSRoundRobinLB:
		f.why = by + " resolution: " + d.Resolution.Text() + ", so the cluster is " + string(kind) +
			": its endpoints are names in the cluster itself, and EDS has nothing"
		f.remedy = "look at the cluster's own load assignment and at DNS, or use resolution STATIC"
	case x.cluster != nil && x.rule != nil:
		f.object = x.policyRule(hasLoadBalancer)
		f.why = x.name(f.object) + " sets loadBalancer.simple: PASSTHROUGH, so the cluster is " + string(kind) + " and requests go to the address that the client asked for"
		f.remedy = "use another load balancer in " + x.name(f.object)
	case x.q.Passthrough:
		f.why = "the proxy passes no mTLS through to " + x.name(d.Object) + ", so that it has no such cluster"
		f.remedy = "ask about the cluster without passthrough, or about a gateway with a server of TLS mode AUTO_PASSTHROUGH"
	default:
		f.why = "the proxy has no such cluster of type EDS"
		f.remedy = "look at the clusters that the proxy has"
	}
	return f.with(
		Evidence{Object: d.Object, Field: "resolution", Want: "STATIC", Have: d.Resolution.Text()},
		Evidence{Field: "cluster type", Want: string(cds.EDS), Have: string(kind)},
	)
}

func (x *inquiry) clusterType() cds.Type {
	if x.cluster != nil {
		return x.cluster.Type
	}
	return cds.TypeOf(x.imp.Definition, x.proxy)
}

// offersAny tells whether the service in use has any candidate.
func (x *inquiry) offersAny() bool {
	for range x.service.Candidates() {
		return true
	}
	return false
}

// sourceEntry is the ServiceEntry that offers the address, else the one that
// defines the host.
func (x *inquiry) sourceEntry(d *model.Service) model.ObjectKey {
	if x.q.Address != "" {
		for _, c := range x.service.Candidates() {
			if x.asked(c) && c.Source.Kind == model.KindServiceEntry {
				return *c.Source
			}
		}
	}
	return d.Object
}

// imported tells whether the service is in scope by a VirtualService only.
func (x *inquiry) imported() bool { return x.imp.Why == scope.WhyRoute }
