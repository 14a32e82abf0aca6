package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// destinationRules finds those without a service, subsets without an endpoint where
// the service has some, endpoints without a subset where others have one, and
// failover or TLS that cannot come about.
func destinationRules(h *hosts) []Problem {
	var out []Problem
	subsets := subsetLabels(h.snap)
	for c := range h.snap.Configs(model.KindDestinationRule) {
		r, ok := c.Object.(*networkingv1.DestinationRule)
		if !ok {
			continue // not of a version that is read
		}
		host := scope.Qualify(r.Spec.GetHost(), c.Key.Namespace, h.snap.Mesh.DomainSuffix)
		if !h.defined(host) {
			out = append(out, Problem{
				Object: c.Key, Field: "spec.host",
				Message: "no service has the hostname " + string(host) + ", so the rule applies to nothing",
				Remedy:  "write the full name: a short one is completed with the rule's own namespace",
			})
			continue
		}
		out = append(out, failovers(c.Key, host, &r.Spec)...)
		out = append(out, originations(c.Key, host, &r.Spec)...)
		for i, s := range r.Spec.GetSubsets() {
			want := model.Labels(s.GetLabels())
			if n := endpointsWithout(h.snap, host, want); n > 0 {
				out = append(out, Problem{
					Object: c.Key, Hosts: []model.Hostname{host}, Field: subsetField(i) + ".labels",
					Message: fmt.Sprintf("subset %s matches no endpoint: none of the %d of %s has %s", s.GetName(), n, host, labelText(want)),
					Remedy:  "compare the subset's labels with those of the Pods",
				})
			}
		}
		if all := subsets[host]; len(r.Spec.GetSubsets()) > 0 && len(all) > 0 {
			out = append(out, outside(h.snap, c.Key, host, all)...)
			delete(subsets, host) // said once, whichever rules there are
		}
	}
	return out
}

// subsetLabels are the labels of all subsets of each host, of whatever rule.
func subsetLabels(snap *state.Snapshot) map[model.Hostname][]model.Labels {
	out := map[model.Hostname][]model.Labels{}
	for c := range snap.Configs(model.KindDestinationRule) {
		r, ok := c.Object.(*networkingv1.DestinationRule)
		if !ok {
			continue // not of a version that is read
		}
		host := scope.Qualify(r.Spec.GetHost(), c.Key.Namespace, snap.Mesh.DomainSuffix)
		for _, s := range r.Spec.GetSubsets() {
			out[host] = append(out[host], s.GetLabels())
		}
	}
	return out
}

// outside finds the endpoints that are in none of the subsets. If no endpoint is in
// any, that is told of the subsets.
func outside(snap *state.Snapshot, rule model.ObjectKey, host model.Hostname, subsets []model.Labels) []Problem {
	var first *model.Endpoint
	n, all := 0, 0
	for svc := range snap.ServicesOf(host) {
		for _, c := range svc.Candidates() {
			if c.Endpoint == nil || c.Endpoint.Workload == nil {
				continue // its own reason is told elsewhere, or nothing is known of its labels
			}
			all++
			if slices.ContainsFunc(subsets, func(l model.Labels) bool { return l.SubsetOf(c.Endpoint.Workload.Labels) }) {
				continue // in one
			}
			if n++; first == nil {
				first = c.Endpoint
			}
		}
	}
	if n == 0 || n == all {
		return nil
	}
	have := model.Labels{}
	for _, s := range subsets {
		for k := range s {
			if v, ok := first.Workload.Labels[k]; ok {
				have[k] = v
			}
		}
	}
	return []Problem{{
		Object: rule, Hosts: []model.Hostname{host}, Field: "spec.subsets",
		Message: fmt.Sprintf("no subset matches %d of the %d endpoints of %s, so no route to a subset leads there: %s has %s", n, all, host, first.Address(), cmp.Or(labelText(have), "none of the labels")),
		Remedy:  "correct the labels of the Pods, or add a subset for them",
	}}
}

func subsetField(i int) string { return "spec.subsets[" + strconv.Itoa(i) + "]" }

// endpointsWithout counts the endpoints of a host if none has the labels, else it
// is 0.
func endpointsWithout(snap *state.Snapshot, host model.Hostname, want model.Labels) int {
	n := 0
	for svc := range snap.ServicesOf(host) {
		for _, c := range svc.Candidates() {
			if c.Endpoint == nil {
				continue // not an endpoint; its own reason is told elsewhere
			}
			if c.Endpoint.Workload == nil || want.SubsetOf(c.Endpoint.Workload.Labels) {
				return 0
			}
			n++
		}
	}
	return n
}
