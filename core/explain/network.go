package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// withoutMTLS says what keeps mTLS from an endpoint that needs it.
func (x *inquiry) withoutMTLS() finding {
	w := x.candidate.Endpoint.Workload
	f := finding{cause: causeOf(x.reason), step: StepNetwork, object: x.behind()}
	where := x.listed() + " is in " + networkText(w.Network) + " (the proxy in " + networkText(x.proxy.Network) + "), behind the gateway " + x.gatewayText() + ", which takes mTLS only"
	if x.reason == model.ReasonPassthroughWithoutMTLS {
		where = "the cluster passes mTLS on to " + x.listed()
	}
	peer, disabled := x.cluster.DisablingPeer(x.scope, x.candidate.Endpoint)
	switch {
	case x.cluster.View.TLS == eds.TLSOther && x.rule != nil:
		f.object = x.policyRule(hasTLS)
		f.why = where + ", and " + x.name(f.object) + " sets tls.mode: " + x.cluster.TLSMode()
		f.remedy = "set tls.mode to ISTIO_MUTUAL in " + x.name(f.object) + ", or leave the mode out"
		f = f.with(Evidence{Object: f.object, Field: "trafficPolicy.tls.mode", Want: "ISTIO_MUTUAL", Have: x.cluster.TLSMode()})
	case w.TLSMode == "istio" && disabled:
		f.object = peer
		f.why = where + ", and " + x.name(peer) + " sets mtls.mode: DISABLE for it"
		f.remedy = "set the mode in " + x.name(peer) + " to PERMISSIVE or STRICT"
		f = f.with(Evidence{Object: f.object, Field: "spec.mtls.mode", Want: "PERMISSIVE or STRICT", Have: "DISABLE"})
	default:
		lacks, remedy := "it has no proxy and no label "+model.LabelTLSMode+"=istio", "inject a proxy into "+x.name(x.behind())+" (label "+model.LabelTLSMode+"=istio)"
		if kind := x.behind().Kind; kind == model.KindWorkloadEntry || kind == model.KindServiceEntry {
			lacks, remedy = "it has neither a serviceAccount nor the label "+model.LabelTLSMode+"=istio", "give it a serviceAccount in "+x.name(x.behind())+", if it has a proxy"
		}
		if x.behind().Kind == model.KindEndpointSlice {
			lacks, remedy = "it is a bare address without Pod", "refer to a Pod with a proxy in the targetRef of "+x.name(x.behind())+", or define a WorkloadEntry with a serviceAccount"
		}
		f.why = where + ", and the workload takes no mTLS (tlsMode: " + w.TLSMode + ", as " + lacks + ")"
		f.remedy = remedy
		f = f.with(Evidence{Object: f.object, Field: "tlsMode", Want: "istio", Have: w.TLSMode})
	}
	return f.with(
		Evidence{Object: x.behind(), Field: "network", Want: string(x.proxy.Network), Have: string(w.Network)},
	)
}

func (x *inquiry) gatewayText() string {
	gateways := x.gateways()
	parts := make([]string, 0, len(gateways))
	for _, g := range gateways {
		parts = append(parts, addressText(g.Addr, g.Port))
	}
	return and(parts)
}

// gatewayOrigin says where the gateway is defined.
func (x *inquiry) gatewayOrigin(g *state.Gateway) model.ObjectKey {
	if g.Cluster == "" {
		return x.meshObject()
	}
	for svc := range x.snap.Services() {
		for _, d := range svc.Definitions {
			if d = d.In(g.Cluster); d != nil && d.Provider == model.ProviderKubernetes && slices.Contains(d.ExternalAddresses[g.Cluster], cmp.Or(g.Name, g.Addr)) && x.mayName(d.Object) {
				return d.Object
			}
		}
	}
	return x.meshObject()
}

// throughGateway says which gateway stands for the candidate.
func (x *inquiry) throughGateway() (finding, bool) {
	if x.reason != model.ReasonReplacedByGateway || x.sent == nil {
		return finding{}, false
	}
	w := x.candidate.Endpoint.Workload
	g := x.gatewayOf(x.sent.Address, x.sent.Port)
	origin := x.gatewayOrigin(g)
	f := finding{
		cause: ReplacedByGateway, step: StepNetwork, object: origin,
		why: x.listed() + " is in " + networkText(w.Network) + " and the proxy in " + networkText(x.proxy.Network) + ", so the " +
			verb(len(x.gateways()), "gateway ", "gateways ") + x.gatewayText() + " of that network (" + x.name(origin) + ") " +
			verb(len(x.gateways()), "stands", "stand") + " for it",
		evidence: []Evidence{
			{Object: x.behind(), Field: "network", Want: string(x.proxy.Network), Have: string(w.Network)},
			{Object: origin, Field: "gateway", Have: x.gatewayText()},
		},
	}
	return x.ofFamily(f, g), true
}

// ofFamily adds that the gateway has an address of another IP family than the proxy, if so.
func (x *inquiry) ofFamily(f finding, g *state.Gateway) finding {
	family, other := x.otherFamily(g.Addr)
	if !other {
		return f
	}
	ips := strings.Join(x.proxy.IPs, ", ")
	f.cause = GatewayIPFamily
	f.why += "; the gateway's address is " + family + ", and the proxy has only " + ips
	f.remedy = "give the gateway of " + networkText(g.Network) + " an address of the proxy's IP family"
	return f.with(Evidence{Object: x.proxy.Pod, Field: "status.podIPs", Want: family, Have: ips})
}

// otherFamily tells whether none of the proxy's addresses is of the family of the
// given one, which it names.
func (x *inquiry) otherFamily(address string) (string, bool) {
	if len(x.proxy.IPs) == 0 || !strings.ContainsAny(address, ":.") || !model.IsIP(address) {
		return "", false
	}
	six := model.IsIPv6(address)
	family := "IPv4"
	if six {
		family = "IPv6"
	}
	return family, !slices.ContainsFunc(x.proxy.IPs, func(ip string) bool { return model.IsIPv6(ip) == six })
}

// askedForGateway is the answer for the address of a gateway itself.
func (x *inquiry) askedForGateway() finding {
	var behind []string
	var first *model.Candidate
	for i, c := range x.service.Candidates() {
		if x.assignment.Reasons[i] == model.ReasonReplacedByGateway && c.Endpoint.Workload.Locality == x.locality.Locality {
			if first == nil {
				first = c
				x.candidate, x.index, x.reason = c, i, model.ReasonReplacedByGateway
			}
			behind = append(behind, addressText(c.Address, c.Port))
		}
	}
	f := finding{cause: ReplacedByGateway, step: StepNetwork, why: "the address is that of a gateway between networks, which stands for " + and(behind)}
	if first != nil {
		f.object = *first.Source
		f.why += " (" + x.name(*first.Source) + ")"
		if g := x.gatewayOf(x.sent.Address, x.sent.Port); g != nil {
			f.why += " in " + networkText(g.Network) + ", as defined by " + x.name(x.gatewayOrigin(g))
			f = x.ofFamily(f, g)
		}
	}
	return f
}

// otherNetwork is about endpoints of other networks that are sent as they are.
func (x *inquiry) otherNetwork() (finding, bool) {
	w := x.candidate.Endpoint.Workload
	if x.reason != model.ReasonNone || w.Network == "" || w.Network == x.proxy.Network {
		return finding{}, false
	}
	var names []string
	object := x.meshObject()
	gateways := slices.DeleteFunc(x.gateways(), func(g state.Gateway) bool {
		name := !g.Addressed()
		if name {
			names = append(names, addressText(g.Addr, g.Port))
			object = x.gatewayOrigin(&g)
		}
		return name
	})
	if x.proxy.Network == "" {
		f := finding{
			cause: ProxyWithoutNetwork, step: StepNetwork, object: x.proxy.Pod,
			why:    "the proxy (" + x.name(x.proxy.Pod) + ") has no network, so it counts as in every network and gets " + x.listed() + " of " + networkText(w.Network) + " itself",
			remedy: "label " + x.name(x.proxy.Pod) + " or namespace " + x.snap.Mesh.SystemNamespace + " with " + model.LabelNetwork,
		}
		if len(gateways) > 0 {
			f.why += ", not the gateway " + x.gatewayText()
		}
		return f.with(Evidence{Object: x.proxy.Pod, Field: "labels[" + model.LabelNetwork + "]", Want: string(w.Network), Have: "absent"}), len(gateways) > 0
	}
	if len(gateways) > 0 {
		return finding{}, false
	}
	have := x.name(x.meshObject()) + " has none, and no Service labelled " + model.LabelNetwork + "=" + string(w.Network)
	if len(names) > 0 {
		have = "only a name, " + and(names) + " of " + x.name(object) + ", which is not resolved"
	}
	if key, why := x.nearlyGateway(w.Network); key.Name != "" {
		object = key
		have += "; " + x.name(key) + " " + why
	}
	return finding{
		cause: NetworkWithoutGateway, step: StepNetwork, object: object,
		why: x.listed() + " is in " + networkText(w.Network) + " and the proxy in " + networkText(x.proxy.Network) + ", and " + networkText(w.Network) +
			" has no gateway with an IP address (" + have + "): the address itself is sent",
		remedy:   "define a gateway for " + networkText(w.Network) + ", unless the networks reach each other",
		evidence: []Evidence{{Object: x.meshObject(), Field: "meshNetworks." + string(w.Network) + ".gateways", Want: "an address", Have: cmp.Or(and(names), "none")}},
	}, true
}

// nearlyGateway is a Service that looks as if it should be the gateway of a network,
// and why it is not.
func (x *inquiry) nearlyGateway(network model.NetworkID) (key model.ObjectKey, why string) {
	for svc := range x.snap.Services() {
		d := svc.Definition()
		if d == nil || d.Labels[model.LabelNetwork] == "" || !x.mayName(d.Object) {
			continue // not for a network
		}
		label := d.Labels[model.LabelNetwork]
		switch {
		case label == string(network) && len(d.ExternalAddresses) == 0:
			return d.Object, "has the label and no external address"
		case label != string(network) && label != string(x.proxy.Network) && similar(label, string(network)):
			return d.Object, "is labelled " + model.LabelNetwork + "=" + label
		}
	}
	return key, ""
}

func (x *inquiry) otherIPFamily() (finding, bool) {
	family, other := x.otherFamily(x.candidate.Address)
	if !other || x.reason != model.ReasonNone {
		return finding{}, false
	}
	ips := strings.Join(x.proxy.IPs, ", ")
	return finding{
		cause: AddressFamily, step: StepNetwork, object: *x.candidate.Source,
		why:      x.listed() + " is " + family + ", and the proxy (" + x.name(x.proxy.Pod) + ") has only " + ips + ": it is sent all the same, and cannot be reached",
		remedy:   "give the proxy's Pod an " + family + " address, or the service endpoints of the proxy's family",
		evidence: []Evidence{{Object: x.proxy.Pod, Field: "status.podIPs", Want: family, Have: ips}},
	}, true
}
