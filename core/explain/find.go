package explain

import (
	"slices"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
)

// find goes from the proxy to the endpoint and says where the way ends, and why.
func (x *inquiry) find() finding {
	switch {
	case x.proxy == nil:
		return x.noProxy()
	case x.imp == nil:
		return x.notImported()
	case x.imp.Definition.Resolution == model.Alias:
		return x.alias(x.imp.Definition)
	}
	if f, ok := x.ofAnother(); ok {
		return f
	}
	d := x.imp.Definition
	port, ok := d.Port(x.q.Port)
	switch {
	case !ok || (port.Protocol == model.ProtocolUDP && x.cluster == nil):
		return x.portAbsent()
	case x.q.Subset != "" && !x.subsetDefined():
		return x.besides(x.subsetNotDefined(), d)
	case x.cluster == nil || x.cluster.Type != cds.EDS:
		return x.hiding(x.notEDS())
	case x.candidate == nil && x.sent != nil:
		return x.askedForGateway()
	case x.candidate == nil:
		return x.hiding(x.missing())
	case x.sent != nil:
		return x.present()
	}
	return x.rejected()
}

// notImported says why the proxy has no cluster for the host at all.
func (x *inquiry) notImported() finding {
	others := x.scope.Others(x.q.Host)
	best := -1
	for i, e := range others {
		if x.visible(e.Definition, e.Why) && (best < 0 || x.offers(e.Definition) && !x.offers(others[best].Definition)) {
			best = i
		}
	}
	if best < 0 {
		return x.noService()
	}
	if d := others[best].Definition; d.Resolution == model.Alias {
		return x.alias(d)
	}
	return x.excluded(others[best])
}

// offers tells whether the service of a definition has a candidate with the
// address, or, if none is asked for, any.
func (x *inquiry) offers(d *model.Service) bool {
	for _, c := range x.snap.Service(d.Key).Candidates() {
		if x.asked(c) {
			return true
		}
	}
	return false
}

// ofAnother tells whether what is asked for belongs to another definition of the
// host, which this proxy does not use.
func (x *inquiry) ofAnother() (finding, bool) {
	mine := x.imp.Definition
	_, hasPort := mine.Port(x.q.Port)
	if x.q.Address != "" && x.offers(mine) {
		return finding{}, false
	}
	for _, e := range x.scope.Others(x.q.Host) {
		if e.Definition.Key == mine.Key || !x.visible(e.Definition, e.Why) {
			continue
		}
		_, itsPort := e.Definition.Port(x.q.Port)
		if (x.q.Address != "" && x.offers(e.Definition)) || (x.q.Address == "" && !hasPort && itsPort) {
			return x.excluded(e), true
		}
	}
	return finding{}, false
}

// excluded says why a definition is not in use.
func (x *inquiry) excluded(e scope.Excluded) finding {
	switch e.Why {
	case scope.WhyNotExported:
		f := x.notExported(e.Definition)
		if x.imp != nil {
			f.why += "; for the host it uses " + x.name(x.imp.Definition.Object)
		}
		return x.besides(f, e.Definition)
	case scope.WhyNotImported, scope.WhyListenerPort:
		return x.besides(x.outsideSidecar(e.Definition), e.Definition)
	case scope.WhyNotRouted:
		return x.besides(x.notRouted(e), e.Definition)
	case scope.WhyOtherWon, scope.WhyKubernetesWon, scope.WhyOlderWon, scope.WhyMerged,
		scope.WhyOnly, scope.WhyOwnNamespace, scope.WhyKubernetes, scope.WhyOldest, scope.WhyRoute:
	}
	return x.lostHostname(e)
}

// notRouted says that a gateway has only what its VirtualServices name.
func (x *inquiry) notRouted(e scope.Excluded) finding {
	d := e.Definition
	gateways := orNone(x.scope.Key.Gateways)
	return finding{
		cause: SidecarScope, step: StepScope, object: d.Object,
		why: x.name(d.Object) + " is not what this gateway serves: " + e.Why.Text() +
			"; PILOT_FILTER_GATEWAY_CLUSTER_CONFIG is on, and the Gateways that select " + x.name(x.proxy.Pod) + " are: " + gateways,
		remedy:   "send requests to " + string(d.Key.Hostname) + " by a VirtualService of a Gateway that selects this proxy",
		evidence: []Evidence{{Object: x.proxy.Pod, Field: "Gateways", Want: "one that routes to " + string(d.Key.Hostname), Have: gateways}},
	}
}

// besides adds what would still be wrong with the address if the finding were
// mended: that nothing lists it for the definition, that what lists it does not
// count, or that it does not serve.
func (x *inquiry) besides(f finding, d *model.Service) finding {
	if x.q.Address == "" {
		return f
	}
	var best *model.Candidate
	for _, c := range x.snap.Service(d.Key).Candidates() {
		if x.asked(c) && (best == nil || best.Endpoint == nil) {
			best = c
		}
	}
	switch {
	case best == nil:
		f.why += "; besides, nothing lists " + x.q.Address + " for " + x.name(d.Object)
	case best.Endpoint == nil && best.Reason != model.ReasonDuplicateAddress && best.Reason != model.ReasonNotVisible:
		f.why += "; besides, " + x.name(*best.Source) + " lists " + x.q.Address + ", but " + best.Reason.Text()
	case best.Endpoint != nil && (best.Endpoint.Health == model.UnHealthy || best.Endpoint.Health == model.Terminating):
		f.why += "; besides, " + x.name(*best.Source) + " has " + x.q.Address + " as " + best.Endpoint.Health.String()
		if have := x.conditions(best); have != "" {
			f.why += " (" + have + ")"
		}
	}
	return f
}

func (x *inquiry) subsetDefined() bool {
	return x.rule != nil && slices.Contains(subsetNames(x.rule.Spec.GetSubsets()), x.q.Subset)
}
