package server

import (
	"github.com/edsight/edsight/core/audit"
	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// traceSubsets says for each endpoint in which subsets of its service the address
// is, where there are subsets.
func traceSubsets(t *views.Trace, snap *state.Snapshot, allowed explain.May) {
	for i := range t.Offers {
		o := &t.Offers[i]
		svc := snap.Service(model.ServiceKey{Hostname: o.Service.Host, Namespace: o.Service.Namespace})
		if svc == nil || !o.Admitted {
			continue // no endpoint
		}
		for _, sub := range audit.Subsets(snap, svc) {
			if !allowed(sub.Rule.Namespace) {
				continue // not to be seen
			}
			o.InSubsets = append(o.InSubsets, views.InSubset{Name: sub.Name, Rule: sub.Rule, Has: holds(&sub, svc, t.Address)})
		}
	}
}

// holds tells whether an endpoint with the address is in the subset.
func holds(sub *audit.Subset, svc *state.ServiceState, address string) bool {
	for _, c := range svc.Candidates() {
		if hasAddress(c.Endpoint, address) && sub.Has(c.Endpoint) {
			return true
		}
	}
	return false
}
