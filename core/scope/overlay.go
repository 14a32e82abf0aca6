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
// rule, the oldest first. Lost are those that are merged into one with a selector,
// which is named, and are in force for no other workload.
func Overlays(snap *state.Snapshot) (overlays []Overlay, lost map[model.ObjectKey]model.ObjectKey) {
	rules := sortedRules(snap)
	ix := newRuleIndex(snap.Mesh, rules)
	lost = map[model.ObjectKey]model.ObjectKey{}
	for _, r := range rules {
		if r.selects() {
			continue // for some workloads only
		}
		holders := ix.holders(r)
		general := slices.DeleteFunc(slices.Clone(holders), (*Rule).selects)
		if len(general) > 0 {
			overlays = append(overlays, ix.overlays(r, general)...)
		} else if len(holders) > 0 {
			lost[r.From[0]] = holders[0].From[0]
		}
	}
	return overlays, lost
}

// overlays finds the parts of a rule that are in none of those that it is part of.
func (ix *ruleIndex) overlays(r *Rule, holders []*Rule) []Overlay {
	var out []Overlay
	in := func(is func(*networking.DestinationRule) bool) bool {
		return slices.ContainsFunc(holders, func(h *Rule) bool { return is(h.Spec) })
	}
	add := func(o Overlay, has func(*networking.DestinationRule) bool) {
		i := slices.IndexFunc(holders[0].From, func(k model.ObjectKey) bool { return has(ix.alone()[k].Spec) })
		o.Host, o.Rule, o.By = r.host, r.From[0], holders[0].From[i]
		out = append(out, o)
	}
	policy := r.Spec.GetTrafficPolicy()
	if policy != nil && !in(func(d *networking.DestinationRule) bool { return d.GetTrafficPolicy() == policy }) {
		add(Overlay{}, func(d *networking.DestinationRule) bool { return d.GetTrafficPolicy() != nil })
	}
	for i, s := range r.Spec.GetSubsets() {
		if !in(func(d *networking.DestinationRule) bool { return subset(d, s.GetName()) == s }) {
			add(Overlay{Subset: s, Index: i}, func(d *networking.DestinationRule) bool { return subset(d, s.GetName()) != nil })
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
