package explain

import (
	"maps"
	"slices"
	"strings"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

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
	f := finding{
		cause: ServicePortAbsent, step: StepPort, object: d.Object,
		why:      x.name(d.Object) + " has no port " + number(x.q.Port) + ", only " + portsText(d.Ports),
		remedy:   "ask for one of these ports, or add port " + number(x.q.Port) + " to " + x.name(d.Object),
		evidence: []Evidence{{Object: d.Object, Field: "spec.ports", Want: number(x.q.Port), Have: portsText(d.Ports)}},
	}
	for _, p := range d.Ports {
		if p.TargetPort == x.q.Port {
			f.why += "; " + number(x.q.Port) + " is the target port of port " + number(p.Number)
		}
	}
	return f
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
	switch {
	case d.Provider != other.Provider:
		why = "a Kubernetes Service goes before ServiceEntries, and the ports of the two are not merged"
	case different != "":
		why += ", and the two cannot be merged since they differ in " + different
	default:
		why += " or the ports of the two are alike"
	}
	return finding{
		cause: PortNotMerged, step: StepDefinition, object: d.Object,
		why: "port " + number(x.q.Port) + " of " + string(x.q.Host) + " is one of " + x.name(other.Object) + " (ports " + portsText(other.Ports) + "), but " +
			x.name(d.Object) + " (ports " + portsText(d.Ports) + ") is used, as " + why,
		remedy: "put all ports into one object, or make the two alike in resolution, exportTo, labels and selector",
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
	add(a.Resolution == b.Resolution, "resolution ("+resolutionText(a.Resolution)+", "+resolutionText(b.Resolution)+")")
	add(slices.Equal(a.ExportTo, b.ExportTo), "exportTo ("+strings.Join(a.ExportTo, ", ")+"; "+strings.Join(b.ExportTo, ", ")+")")
	add(maps.Equal(a.Labels, b.Labels), "labels ("+labelText(a.Labels)+"; "+labelText(b.Labels)+")")
	add(maps.Equal(a.Selector, b.Selector), "selector ("+labelText(a.Selector)+"; "+labelText(b.Selector)+")")
	return strings.Join(parts, ", ")
}

func resolutionText(r model.Resolution) string {
	switch r {
	case model.ClientSideLB:
		return "STATIC"
	case model.DNSLB:
		return "DNS"
	case model.Passthrough:
		return "NONE"
	case model.DNSRoundRobinLB:
		return "DNS_ROUND_ROBIN"
	case model.Alias:
		return "ExternalName"
	case model.DynamicDNS:
		return "DYNAMIC_DNS"
	}
	return "unknown"
}

func subsetNames(list []*networking.Subset) []string {
	out := make([]string, 0, len(list))
	for _, s := range list {
		out = append(out, s.GetName())
	}
	return out
}

// subsetNotDefined says which rule is in force instead, and which one has the
// subset.
func (x *inquiry) subsetNotDefined() finding {
	d := x.imp.Definition
	f := finding{cause: SubsetNotDefined, step: StepSubset, object: d.Object, remedy: "define subset " + x.q.Subset + " in a DestinationRule for " + string(x.q.Host)}
	have := "no DestinationRule is in force"
	if x.rule != nil {
		f.object = x.rule.From[0]
		names := and(subsetNames(x.rule.Spec.GetSubsets()))
		if names == "" {
			names = "no subset"
		}
		have = x.names(x.rule.From) + " is in force, which defines " + names
		f.remedy = "define subset " + x.q.Subset + " in " + x.name(x.rule.From[0])
	}
	f.why = "no DestinationRule that this proxy sees defines subset " + x.q.Subset + " of " + x.name(d.Object) + ": " + have
	for c := range x.snap.Configs(model.KindDestinationRule) {
		r, ok := c.Object.(*networkingv1.DestinationRule)
		if !ok || !x.forHost(r.Spec.GetHost(), c.Key.Namespace) || !slices.Contains(subsetNames(r.Spec.GetSubsets()), x.q.Subset) || !x.mayName(c.Key) {
			continue
		}
		f.object = c.Key
		f.why += "; " + x.name(c.Key) + " defines it, but does not hold for a client in namespace " + x.proxy.Namespace
		if to := r.Spec.GetExportTo(); len(to) > 0 {
			f.why += " (exportTo " + quoteExport(strings.Join(to, ", "), c.Key.Namespace) + ")"
		}
		f.remedy += ", or let that of " + x.name(c.Key) + " be the one in force"
		f.evidence = append(f.evidence, Evidence{Object: c.Key, Field: "spec.subsets", Have: and(subsetNames(r.Spec.GetSubsets()))})
		break
	}
	if key, host, ok := x.wildcardWithSubset(); ok {
		f.why += "; " + x.name(key) + " defines it for " + host + ", and the more specific host of " + x.name(x.rule.From[0]) + " goes before"
		f.evidence = append(f.evidence, Evidence{Object: key, Field: "spec.host", Have: host})
	}
	return f.with(Evidence{Object: f.object, Field: "subsets in force", Want: x.q.Subset, Have: have})
}

// wildcardWithSubset finds a rule with the subset whose host is a wildcard, in the
// namespace of the rule in force.
func (x *inquiry) wildcardWithSubset() (key model.ObjectKey, host string, ok bool) {
	if x.rule == nil {
		return key, "", false
	}
	for c := range x.snap.ConfigsIn(model.KindDestinationRule, x.rule.From[0].Namespace) {
		r, is := c.Object.(*networkingv1.DestinationRule)
		if !is || slices.Contains(x.rule.From, c.Key) || !slices.Contains(subsetNames(r.Spec.GetSubsets()), x.q.Subset) || !x.mayName(c.Key) {
			continue
		}
		if suffix, wild := strings.CutPrefix(r.Spec.GetHost(), "*"); wild && strings.HasSuffix(string(x.q.Host), suffix) {
			return c.Key, r.Spec.GetHost(), true
		}
	}
	return key, "", false
}

// forHost tells whether the host of a rule means the host asked about.
func (x *inquiry) forHost(host, namespace string) bool {
	return host == string(x.q.Host) || host+"."+namespace+".svc."+x.snap.Mesh.DomainSuffix == string(x.q.Host)
}

// notEDS says where the endpoints of the cluster come from instead.
func (x *inquiry) notEDS() finding {
	d := x.imp.Definition
	kind := x.clusterType()
	f := finding{cause: NotEDS, step: StepCluster, object: x.sourceEntry(d)}
	switch {
	case d.Resolution == model.Passthrough && d.Provider == model.ProviderExternal:
		f.cause = ResolutionNone
		f.why = x.name(f.object) + " has resolution NONE, so the cluster is " + string(kind) +
			": requests go to the address that the client asked for, and the entry's endpoints and workloadSelector have no effect"
		f.remedy = "set the resolution of " + x.name(f.object) + " to STATIC"
	case d.Resolution == model.DynamicDNS:
		f.why = x.name(f.object) + " has resolution DYNAMIC_DNS, which is for waypoints only: no other proxy has a cluster for it"
		f.remedy = "use resolution DNS for hosts without wildcard, or NONE"
	case d.Resolution == model.Passthrough:
		f.why = x.name(f.object) + " is headless (clusterIP None), so the cluster is " + string(kind) + ": requests go to the Pod that the client resolved, and EDS has nothing"
		f.remedy = "look at DNS and at the listeners of the proxy, or give the Service a cluster IP"
	case d.Resolution == model.DNSLB || d.Resolution == model.DNSRoundRobinLB:
		f.why = x.name(f.object) + " has resolution " + resolutionText(d.Resolution) + ", so the cluster is " + string(kind) +
			": its endpoints are names in the cluster itself, and EDS has nothing"
		f.remedy = "look at the cluster's own load assignment and at DNS, or use resolution STATIC"
	case x.cluster != nil && x.rule != nil:
		f.object = x.rule.From[0]
		f.why = x.name(f.object) + " sets loadBalancer.simple PASSTHROUGH, so the cluster is " + string(kind) + " and requests go to the address that the client asked for"
		f.remedy = "use another load balancer in " + x.name(f.object)
	default:
		f.why = "the proxy has no such cluster of type EDS"
	}
	return f.with(
		Evidence{Object: d.Object, Field: "resolution", Want: "STATIC", Have: resolutionText(d.Resolution)},
		Evidence{Field: "cluster type", Want: string(cds.EDS), Have: string(kind)},
	)
}

func (x *inquiry) clusterType() cds.Type {
	if x.cluster != nil {
		return x.cluster.Type
	}
	switch x.imp.Definition.Resolution {
	case model.DNSLB:
		return cds.StrictDNS
	case model.DNSRoundRobinLB:
		return cds.LogicalDNS
	case model.Passthrough:
		return cds.OriginalDst
	case model.DynamicDNS:
		return "none"
	case model.ClientSideLB, model.Alias:
	}
	return cds.EDS
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
