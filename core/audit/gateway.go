package audit

import (
	"maps"
	"slices"

	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// gateways finds those that no proxy serves.
func gateways(snap *state.Snapshot, p *proxies) []Problem {
	var out []Problem
	for _, c := range configs[*networkingv1.Gateway](snap, model.KindGateway) {
		want := model.Labels(c.object.Spec.GetSelector())
		if p.anywhere(want) {
			continue // a proxy has it
		}
		message := "there is no gateway Pod, so nobody serves this Gateway"
		if len(want) > 0 {
			message = "no gateway Pod has " + labelText(want) + ", so nobody serves this Gateway"
		}
		out = append(out, Problem{Object: c.key, Field: "spec.selector", Message: message, Remedy: "compare the selector with the labels of the gateway's Pods"})
	}
	return out
}

// anywhere tells whether a proxy of any namespace has the labels.
func (p *proxies) anywhere(want model.Labels) bool {
	for _, of := range []map[string][]model.Labels{p.routers, p.sidecars} {
		if slices.ContainsFunc(slices.Concat(slices.Collect(maps.Values(of))...), want.SubsetOf) {
			return true
		}
	}
	return false
}
