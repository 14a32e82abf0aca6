package audit

import (
	"fmt"
	"strconv"

	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// destinationRules finds those without a service, subsets without an endpoint where
// the service has some, and failover that cannot come about.
func destinationRules(h *hosts) []Problem {
	var out []Problem
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
	}
	return out
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
