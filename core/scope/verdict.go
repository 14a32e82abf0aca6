package scope

import (
	"cmp"
	"slices"

	"github.com/edsight/edsight/core/model"
)

// RuleWhy says whether a DestinationRule holds for what a proxy sends to a service,
// or why not.
type RuleWhy uint8

// The verdicts. Those after RuleElsewhere are about a rule that would hold alone.
const (
	RuleOtherHost      RuleWhy = iota // it is for other hosts, or there is no such rule
	RuleInForce                       // it is the rule in force, or part of it
	RuleNotSelected                   // its workloadSelector does not take in the proxy
	RuleNotExported                   // exportTo does not let the proxy's namespace see it
	RuleElsewhere                     // its namespace is not one where rules are looked for
	RuleOtherNamespace                // a namespace that goes before has a rule
	RuleLessSpecific                  // a rule of the namespace has a more specific host
	RuleMergedAway                    // it is part of a rule which is not for the proxy
	RuleOtherPicked                   // another rule of the namespace is used, and the two are not merged
	ruleWhyCount
)

var ruleWhyTexts = [ruleWhyCount]string{ //nolint:gochecknoglobals // a constant table
	RuleOtherHost:      "other-host",
	RuleInForce:        "in-force",
	RuleNotSelected:    "not-selected",
	RuleNotExported:    "not-exported",
	RuleElsewhere:      "elsewhere",
	RuleOtherNamespace: "other-namespace",
	RuleLessSpecific:   "less-specific",
	RuleMergedAway:     "merged-away",
	RuleOtherPicked:    "other-picked",
}

// String gives a slug.
func (w RuleWhy) String() string {
	if w >= ruleWhyCount {
		return "invalid"
	}
	return ruleWhyTexts[w]
}

// RuleVerdict says whether a DestinationRule holds for what a proxy sends to an
// imported service. With it comes the rule in its way, nil if it is not about one.
func (s *Scope) RuleVerdict(i *Import, p *model.Proxy, key model.ObjectKey) (RuleWhy, *Rule) {
	ix := &s.index.rules
	r, ok := ix.alone()[key]
	if !ok || !Covers(r.host, i.Definition.Key.Hostname) {
		return RuleOtherHost, nil
	}
	return ix.verdict(r, s.Key.Namespace, i.Definition.Key, p.Labels)
}

// verdict finds out what would be of a rule for the host if it were alone, and then
// which of the others is in its way.
func (ix *ruleIndex) verdict(r *Rule, namespace string, svc model.ServiceKey, labels model.Labels) (RuleWhy, *Rule) {
	used := ruleFor(ix.find(namespace, svc), labels)
	alone := newRuleIndex(ix.mesh, []*Rule{r})
	home := model.ServiceKey{Hostname: svc.Hostname, Namespace: r.From[0].Namespace}
	switch {
	case used.contains(r):
		return RuleInForce, nil
	case r.selects() && ruleFor(alone.find(namespace, svc), labels) == nil:
		return RuleNotSelected, nil
	case len(alone.find(namespace, home)) == 0:
		return RuleNotExported, nil
	case len(alone.find(namespace, svc)) == 0:
		return RuleElsewhere, nil
	}
	for _, p := range ix.places(namespace, svc) {
		named, seen, holders := p.rules.find(svc.Hostname), p.find(namespace, svc.Hostname), p.rules.holders(r)
		switch {
		case len(holders) == 0 && len(seen) == 0:
			continue // neither this rule nor another
		case len(holders) == 0 && seen[0].From[0].Namespace != r.From[0].Namespace:
			return RuleOtherNamespace, cmp.Or(ruleFor(seen, labels), seen[0])
		case len(holders) == 0: // the root namespace's own rules go before those for all
			return RuleOtherPicked, cmp.Or(ruleFor(seen, labels), seen[0])
		case named[0].host != r.host:
			return RuleLessSpecific, cmp.Or(ruleFor(named, labels), named[0])
		case slices.ContainsFunc(holders, func(h *Rule) bool { return slices.Contains(seen, h) && (!h.selects() || h.takesIn(labels)) }):
			return RuleOtherPicked, used
		}
		return RuleMergedAway, holders[0]
	}
	return RuleElsewhere, nil
}

// contains tells whether another rule is part of this one.
func (r *Rule) contains(other *Rule) bool { return r != nil && slices.Contains(r.From, other.From[0]) }

// holders are the rules that another one is part of.
func (h *hostRules) holders(r *Rule) []*Rule {
	var out []*Rule
	if h != nil {
		for _, have := range h.byHost[r.host] {
			if have.contains(r) {
				out = append(out, have)
			}
		}
	}
	return out
}
