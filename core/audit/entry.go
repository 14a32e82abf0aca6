package audit

import (
	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// serviceEntries finds those whose addresses nobody uses: with resolution NONE
// clients connect to the address that they call.
func serviceEntries(snap *state.Snapshot) []Problem {
	var out []Problem
	for c := range snap.Configs(model.KindServiceEntry) {
		e, ok := c.Object.(*networkingv1.ServiceEntry)
		if !ok || e.Spec.GetResolution() != networking.ServiceEntry_NONE {
			continue // its addresses count
		}
		p := Problem{Object: c.Key, Remedy: "use resolution STATIC for addresses, DNS for names"}
		switch {
		case e.Spec.GetWorkloadSelector() != nil:
			p.Field, p.Message = "spec.workloadSelector", "the resolution is NONE, so the workloads that are selected are no endpoints for sidecars"
		case len(e.Spec.GetEndpoints()) > 0:
			p.Field, p.Message = "spec.endpoints", "the resolution is NONE, so these endpoints have no effect"
		default:
			continue // nothing is ignored
		}
		for _, h := range e.Spec.GetHosts() {
			p.Hosts = append(p.Hosts, model.Hostname(h))
		}
		out = append(out, p)
	}
	return out
}
