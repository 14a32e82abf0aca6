package scope

import (
	"slices"

	networking "istio.io/api/networking/v1alpha3"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// Overlay is a part of a DestinationRule that counts for nobody, as the rule itself
// or an older one that it is merged with has it before.
type Overlay struct {
	Host     model.Hostname
	Rule, By model.ObjectKey
	// Subset is nil if it is the trafficPolicy; Index is its place in the rule.
	Subset *networking.Subset
	Index  int
}

// Overlays lists what of the DestinationRules without a selector is overlaid, by
// rule, the oldest first.
func Overlays(snap *state.Snapshot) []Overlay {
	ix := newRuleIndex(snap.Mesh, sortedRules(snap))
	alone := map[model.ObjectKey]*Rule{}
	for _, r := range ix.rules {
		alone[r.From[0]] = r
	}
	var out []Overlay
	for _, r := range ix.rules {
		holders := slices.DeleteFunc(ix.holders(r), (*Rule).selects)
		if len(holders) == 0 {
			continue // it selects, or is lost in one that does
		}
		owner := func(has func(*networking.DestinationRule) bool) model.ObjectKey {
			i := slices.IndexFunc(holders[0].From, func(k model.ObjectKey) bool { return has(alone[k].Spec) })
			return holders[0].From[i]
		}
		if policy := r.Spec.GetTrafficPolicy(); policy != nil && !slices.ContainsFunc(holders, func(h *Rule) bool { return h.Spec.GetTrafficPolicy() == policy }) {
			by := owner(func(d *networking.DestinationRule) bool { return d.GetTrafficPolicy() != nil })
			out = append(out, Overlay{Host: r.host, Rule: r.From[0], By: by})
		}
		for i, s := range r.Spec.GetSubsets() {
			if !slices.ContainsFunc(holders, func(h *Rule) bool { return subset(h.Spec, s.GetName()) == s }) {
				by := owner(func(d *networking.DestinationRule) bool { return subset(d, s.GetName()) != nil })
				out = append(out, Overlay{Host: r.host, Rule: r.From[0], By: by, Subset: s, Index: i})
			}
		}
	}
	return out
}

// LostRules finds the DestinationRules without a selector that are merged into one
// with a selector and are in force for no other workload. It names one for each.
func LostRules(snap *state.Snapshot) map[model.ObjectKey]model.ObjectKey {
	ix := newRuleIndex(snap.Mesh, sortedRules(snap))
	out := map[model.ObjectKey]model.ObjectKey{}
	for _, r := range ix.rules {
		holders := ix.holders(r)
		general := func(h *Rule) bool { return !h.selects() }
		if !r.selects() && len(holders) > 0 && !slices.ContainsFunc(holders, general) {
			out[r.From[0]] = holders[0].From[0]
		}
	}
	return out
}

// holders are the rules that a rule is part of, for whatever clients.
func (ix *ruleIndex) holders(r *Rule) []*Rule {
	ns := r.From[0].Namespace
	out := slices.Concat(ix.local[ns].holders(r), ix.exported[ns].holders(r))
	if ns == ix.mesh.RootNamespace {
		out = append(out, ix.rootLocal.holders(r)...)
	}
	return out
}

// subset is the one of that name which counts, nil if there is none.
func subset(r *networking.DestinationRule, name string) *networking.Subset {
	i := slices.IndexFunc(r.GetSubsets(), func(s *networking.Subset) bool { return s.GetName() == name })
	if i < 0 {
		return nil
	}
	return r.GetSubsets()[i]
}
