package scope

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// Rule is a DestinationRule, or several of one namespace for one host merged. As in
// Istio its exportTo is read in ways of its own: atHome, private, visibleIn.
type Rule struct {
	// From are the objects it was made of, the one that counts first.
	From []model.ObjectKey
	Spec *networking.DestinationRule

	host     model.Hostname // in full
	exportTo []string       // sorted
}

func (r *Rule) selector() map[string]string { return r.Spec.GetWorkloadSelector().GetMatchLabels() }

func (r *Rule) selects() bool { return r.Spec.GetWorkloadSelector() != nil }

// takesIn tells whether the rule has a selector that selects a workload.
func (r *Rule) takesIn(labels model.Labels) bool {
	return r.selects() && model.Labels(r.selector()).SubsetOf(labels)
}

// ruleIndex finds the rules for a service as a namespace sees it.
type ruleIndex struct {
	mesh      *state.Mesh
	alone     func() map[model.ObjectKey]*Rule // each as it is by itself
	local     map[string]*hostRules            // for clients of the rules' own namespace
	exported  map[string]*hostRules
	rootLocal *hostRules // the private ones of the root namespace
}

// hostRules are the rules of one namespace by the host that they name.
type hostRules struct {
	byHost map[model.Hostname][]*Rule
	// wild has the wildcards of byHost alone.
	wild map[model.Hostname][]*Rule
}

// find returns the rules for the host itself, else those for the longest wildcard
// that covers it.
func (h *hostRules) find(host model.Hostname) []*Rule {
	if h == nil {
		return nil
	}
	if rules, ok := h.byHost[host]; ok {
		return rules
	}
	covering, _ := mostSpecific(h.wild, host)
	return h.wild[covering]
}

// newRuleIndex takes the rules in the order of sortedRules.
func newRuleIndex(mesh *state.Mesh, rules []*Rule) ruleIndex {
	ix := ruleIndex{mesh: mesh, local: map[string]*hostRules{}, exported: map[string]*hostRules{}, rootLocal: newHostRules()}
	ix.alone = sync.OnceValue(func() map[model.ObjectKey]*Rule {
		out := make(map[model.ObjectKey]*Rule, len(rules))
		for _, r := range rules {
			out[r.From[0]] = r
		}
		return out
	})
	for _, r := range rules {
		ns := r.From[0].Namespace
		if r.atHome() {
			addRule(ix.local, ns, r)
		}
		switch {
		case !r.private(mesh.Config.GetDefaultDestinationRuleExportTo()):
			addRule(ix.exported, ns, r)
		case ns == mesh.RootNamespace:
			ix.rootLocal.merge(r)
		}
	}
	return ix
}

func newHostRules() *hostRules {
	return &hostRules{byHost: map[model.Hostname][]*Rule{}, wild: map[model.Hostname][]*Rule{}}
}

func addRule(in map[string]*hostRules, namespace string, r *Rule) {
	if in[namespace] == nil {
		in[namespace] = newHostRules()
	}
	in[namespace].merge(r)
}

// atHome tells whether clients of the rule's own namespace see it.
func (r *Rule) atHome() bool {
	return len(r.exportTo) == 0 || containsAny(r.exportTo, exportPublic, exportPrivate, r.From[0].Namespace)
}

// visibleIn tells whether clients of a namespace see the rule where it is exported.
// There "." does not stand for the rule's own namespace.
func (r *Rule) visibleIn(namespace string) bool {
	return len(r.exportTo) == 0 || containsAny(r.exportTo, exportPublic, namespace)
}

// private tells whether the rule is not exported at all, given the mesh's default,
// which only counts here.
func (r *Rule) private(meshDefault []string) bool {
	if len(r.exportTo) == 0 {
		return slices.Contains(meshDefault, exportPrivate)
	}
	return len(r.exportTo) == 1 && containsAny(r.exportTo, exportPrivate, r.From[0].Namespace)
}

// sortedRules gives those with a selector first, then the oldest first.
func sortedRules(snap *state.Snapshot) []*Rule {
	type dated struct {
		rule   *Rule
		object *networkingv1.DestinationRule
	}
	var list []dated
	for c := range snap.Configs(model.KindDestinationRule) {
		o, ok := c.Object.(*networkingv1.DestinationRule)
		if !ok {
			continue
		}
		r := &Rule{From: []model.ObjectKey{c.Key}, Spec: &o.Spec, host: Qualify(o.Spec.GetHost(), c.Key.Namespace, snap.Mesh.DomainSuffix)}
		r.exportTo = slices.Sorted(slices.Values(o.Spec.GetExportTo()))
		r.exportTo = slices.Compact(r.exportTo)
		if r.selects() {
			r.exportTo = []string{exportPrivate}
		}
		list = append(list, dated{r, o})
	}
	slices.SortStableFunc(list, func(a, b dated) int {
		return cmp.Or(compareBool(a.rule.selects(), b.rule.selects()), compareObjects(a.object, b.object))
	})
	out := make([]*Rule, 0, len(list))
	for _, d := range list {
		out = append(out, d.rule)
	}
	return out
}

// merge adds a rule to those of the same host in the same namespace. Rules with
// like exportTo and selector become one: the older subsets and the older policy
// win. As in Istio 1.28 a rule without a selector whose exportTo is as private as
// that of one with a selector is lost in it, for other workloads too.
func (h *hostRules) merge(r *Rule) {
	separate := true
	rules := h.byHost[r.host]
	for i, old := range rules {
		like := slices.Equal(old.exportTo, r.exportTo)
		covers := len(old.exportTo) > 0 && containsAll(r.exportTo, old.exportTo)
		bothSelect := old.selects() && r.selects()
		sameWorkloads := old.selects() == r.selects() && maps.Equal(old.selector(), r.selector())
		separate = true
		if (!like && !covers) || (bothSelect && !sameWorkloads) {
			continue
		}
		separate = !sameWorkloads && !like
		rules[i] = mergeRules(old, r)
	}
	if separate {
		rules = append(rules, r)
	}
	h.byHost[r.host] = rules
	if wild(r.host) {
		h.wild[r.host] = rules
	}
}

func mergeRules(old, r *Rule) *Rule {
	m := &Rule{From: slices.Concat(old.From, r.From), host: old.host, exportTo: old.exportTo, Spec: &networking.DestinationRule{
		Host: old.Spec.GetHost(), ExportTo: old.Spec.GetExportTo(), WorkloadSelector: old.Spec.GetWorkloadSelector(),
		TrafficPolicy: old.Spec.GetTrafficPolicy(), Subsets: slices.Clone(old.Spec.GetSubsets()),
	}}
	for _, s := range r.Spec.GetSubsets() {
		same := func(o *networking.Subset) bool { return o.GetName() == s.GetName() }
		if !slices.ContainsFunc(m.Spec.Subsets, same) {
			m.Spec.Subsets = append(m.Spec.Subsets, s)
		}
	}
	if m.Spec.TrafficPolicy == nil {
		m.Spec.TrafficPolicy = r.Spec.GetTrafficPolicy()
	}
	return m
}

// place is where a client looks for rules.
type place struct {
	rules *hostRules
	// own tells that all rules there are for the client's namespace.
	own bool
}

// places lists where a client looks, in order: its namespace, that of the service,
// the root namespace.
func (ix *ruleIndex) places(namespace string, svc model.ServiceKey) [3]place {
	own := ix.local[namespace]
	if namespace == ix.mesh.RootNamespace {
		own = ix.rootLocal
	}
	return [3]place{{own, true}, {ix.exported[svc.Namespace], false}, {ix.exported[ix.mesh.RootNamespace], false}}
}

// find returns the rules for a host that a client sees there.
func (p place) find(namespace string, host model.Hostname) []*Rule {
	rules := p.rules.find(host)
	if p.own {
		return rules
	}
	var out []*Rule
	for _, r := range rules {
		if r.visibleIn(namespace) {
			out = append(out, r)
		}
	}
	return out
}

// find returns the rules for a service as a client's namespace sees it: those of
// the first place that has any.
func (ix *ruleIndex) find(namespace string, svc model.ServiceKey) []*Rule {
	for _, p := range ix.places(namespace, svc) {
		if rules := p.find(namespace, svc.Hostname); len(rules) > 0 {
			return rules
		}
	}
	return nil
}

// ruleFor picks the rule for a workload: one that selects it, else the last
// without a selector. Rules with a selector are private, so that they are of the
// workload's namespace.
func ruleFor(rules []*Rule, labels model.Labels) *Rule {
	var general *Rule
	for _, r := range rules {
		switch {
		case !r.selects():
			general = r
		case r.takesIn(labels):
			return r
		}
	}
	return general
}

func containsAny(list []string, of ...string) bool {
	return slices.ContainsFunc(of, func(s string) bool { return slices.Contains(list, s) })
}

func containsAll(list, all []string) bool {
	return !slices.ContainsFunc(all, func(s string) bool { return !slices.Contains(list, s) })
}
