package explain

import (
	"slices"
	"strings"
	"time"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/source"
)

// subsetNotDefined says which rule is in force instead, and which one has the
// subset.
func (x *inquiry) subsetNotDefined() finding {
	d := x.imp.Definition
	f := finding{cause: SubsetNotDefined, step: StepSubset, object: d.Object, remedy: "define subset " + x.q.Subset + " in a DestinationRule for " + string(x.q.Host)}
	have := "no DestinationRule is in force"
	if x.rule != nil {
		f.object = x.rule.From[0]
		names := and(subsetNames(x.rule.Spec.GetSubsets()))
		if names == "" {
			names = "no subset"
		}
		have = x.names(x.rule.From) + verb(len(x.rule.From), " is", " are") + " in force, which define" + verb(len(x.rule.From), "s ", " ") + names
		f.remedy = "define subset " + x.q.Subset + " in " + x.name(x.rule.From[0])
	}
	f.why = "no DestinationRule that this proxy sees defines subset " + x.q.Subset + " of " + x.name(d.Object) + ": " + have
	for _, near := range []func() (key model.ObjectKey, why, remedy string){x.subsetNotInForce, x.subsetOfWildcard, x.subsetOfOtherHost, x.ruleOfCluster} {
		key, why, remedy := near()
		if key.Name == "" {
			continue // nothing comes close in this way
		}
		f.object = key
		f.why += "; " + why
		f.remedy += remedy
		f.evidence = append(f.evidence, Evidence{Object: key, Field: "spec.subsets", Have: x.q.Subset})
		if x.rule != nil && x.rule.From[0] != key {
			f.evidence = append(f.evidence, Evidence{Object: x.rule.From[0], Field: "spec.subsets", Want: x.q.Subset, Have: and(subsetNames(x.rule.Spec.GetSubsets()))})
		}
		return f.with(Evidence{Object: f.object, Field: "subsets in force", Want: x.q.Subset, Have: have})
	}
	if key, at, ok := x.deletedRule(); ok {
		f.object = key
		f.why += "; " + x.name(key) + " was deleted at " + clock(at)
	}
	return f.with(Evidence{Object: f.object, Field: "subsets in force", Want: x.q.Subset, Have: have})
}

// subsetNotInForce finds a rule for the host that does not hold for the proxy, and
// says why.
func (x *inquiry) subsetNotInForce() (key model.ObjectKey, why, remedy string) {
	for r := range x.passedOver(x.definesSubset) {
		if r.why != scope.RuleLessSpecific {
			why, remedy = x.notInForce(r)
			return r.key, x.name(r.key) + " defines it, but " + why, ", or " + remedy
		}
	}
	return key, "", ""
}

// subsetOfWildcard finds a rule whose host is a wildcard and which one with a more
// specific host hides.
func (x *inquiry) subsetOfWildcard() (key model.ObjectKey, why, remedy string) {
	for r := range x.passedOver(x.definesSubset) {
		if r.why == scope.RuleLessSpecific {
			by := r.by.From[0]
			return by, x.name(r.key) + " defines it for " + r.spec.GetHost() + ", and the more specific host of " + x.name(by) + " goes before", ""
		}
	}
	return key, "", ""
}

// subsetOfOtherHost finds a rule whose host was meant to be this one, and is not.
func (x *inquiry) subsetOfOtherHost() (key model.ObjectKey, why, remedy string) {
	for key, r := range x.rules(x.definesSubset) {
		host := r.GetHost()
		means := scope.Qualify(host, key.Namespace, x.snap.Mesh.DomainSuffix)
		name, _, _ := strings.Cut(host, ".")
		short := name == x.imp.Definition.Name && strings.HasPrefix(string(x.q.Host), host)
		if !short && (means == x.q.Host || x.defines(means) || !similar(string(means), string(x.q.Host))) {
			continue // does not come close
		}
		why = x.name(key) + " defines it for host " + host
		if string(means) != host {
			why += ", which means " + string(means)
		}
		if !x.defines(means) {
			why += ", and no service has that name"
		}
		if short {
			return key, why, ", or write the host of " + x.name(key) + " in full"
		}
		return key, why, ", or correct the host of " + x.name(key) + " to " + string(x.q.Host)
	}
	return key, "", ""
}

// ruleOfCluster finds a rule for the host in a cluster whose rules are not read.
func (x *inquiry) ruleOfCluster() (key model.ObjectKey, why, remedy string) {
	for _, key := range x.objects.with(x.opts, model.KindDestinationRule, string(x.q.Host)) {
		if _, read := x.snap.Config(key); !read && x.mayName(key) {
			return key, x.nameIn(key) + " is for the host, and Istio objects of that cluster are not read", ", or create that one in the cluster whose configuration is read"
		}
	}
	return key, "", ""
}

// deletedRule is the last DestinationRule that was deleted in a namespace whose
// rules count.
func (x *inquiry) deletedRule() (model.ObjectKey, time.Time, bool) {
	count := []string{x.proxy.Namespace, x.imp.Definition.Key.Namespace, x.snap.Mesh.RootNamespace}
	for t := range x.past {
		for i := range t.Causes {
			key := t.Causes[i].Key
			if key.Kind != model.KindDestinationRule || t.Causes[i].Op != source.OpDelete || !slices.Contains(count, key.Namespace) || !x.mayName(key) {
				continue // something else
			}
			_, back := x.snap.Config(key)
			return key, t.Causes[i].Seen, !back
		}
	}
	return model.ObjectKey{}, time.Time{}, false
}
