package explain

import (
	"slices"
	"strings"
	"time"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/source"
)

func subsetNames(list []*networking.Subset) []string {
	out := make([]string, 0, len(list))
	for _, s := range list {
		out = append(out, s.GetName())
	}
	return out
}

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
		have = x.names(x.rule.From) + verb(len(x.rule.From), " is", " are") + " in force, which defines " + names
		f.remedy = "define subset " + x.q.Subset + " in " + x.name(x.rule.From[0])
	}
	f.why = "no DestinationRule that this proxy sees defines subset " + x.q.Subset + " of " + x.name(d.Object) + ": " + have
	for _, near := range []func() (key model.ObjectKey, why, remedy string){x.ruleNotInForce, x.ruleOfWildcard, x.ruleOfShortName, x.ruleOfCluster} {
		key, why, remedy := near()
		if key.Name == "" {
			continue // nothing comes close in this way
		}
		f.object = key
		f.why += "; " + why
		f.remedy += remedy
		f.evidence = append(f.evidence, Evidence{Object: key, Field: "spec.subsets", Have: x.q.Subset})
		return f.with(Evidence{Object: f.object, Field: "subsets in force", Want: x.q.Subset, Have: have})
	}
	if key, at, ok := x.deletedRule(); ok {
		f.object = key
		f.why += "; " + x.name(key) + " was deleted at " + at.UTC().Format("15:04:05")
	}
	return f.with(Evidence{Object: f.object, Field: "subsets in force", Want: x.q.Subset, Have: have})
}

// rules iterates over the DestinationRules with the subset that may be named and
// are not in force.
func (x *inquiry) rules(yield func(model.ObjectKey, *networkingv1.DestinationRule) bool) {
	for c := range x.snap.Configs(model.KindDestinationRule) {
		r, ok := c.Object.(*networkingv1.DestinationRule)
		if !ok || !slices.Contains(subsetNames(r.Spec.GetSubsets()), x.q.Subset) || !x.mayName(c.Key) {
			continue // another one
		}
		if !yield(c.Key, r) {
			return
		}
	}
}

// ruleNotInForce finds a rule for the host that does not hold for the proxy, and
// says why.
func (x *inquiry) ruleNotInForce() (key model.ObjectKey, why, remedy string) {
	for key, r := range x.rules {
		if !x.forHost(r.Spec.GetHost(), key.Namespace) {
			continue // of another host
		}
		why, remedy = x.notInForce(key, r)
		return key, x.name(key) + " defines it, but does not hold for a client in namespace " + x.proxy.Namespace + ", as " + why, ", or " + remedy
	}
	return key, "", ""
}

func (x *inquiry) notInForce(key model.ObjectKey, r *networkingv1.DestinationRule) (why, remedy string) {
	mesh, svc, client := x.snap.Mesh, x.imp.Definition.Key.Namespace, x.proxy.Namespace
	to, field := r.Spec.GetExportTo(), "it has exportTo"
	if len(to) == 0 && slices.Contains(mesh.Config.GetDefaultDestinationRuleExportTo(), ".") {
		to, field = []string{"."}, "it has no exportTo of its own, and "+x.name(x.meshObject())+" has defaultDestinationRuleExportTo"
	}
	exported := len(to) == 0 || slices.Contains(to, "*") || slices.Contains(to, client) || (slices.Contains(to, ".") && key.Namespace == client)
	switch sel := r.Spec.GetWorkloadSelector().GetMatchLabels(); {
	case len(sel) > 0 && (key.Namespace != client || !model.Labels(sel).SubsetOf(x.proxy.Labels)):
		return "its workloadSelector (" + labelText(sel) + ") takes in only such clients in its own namespace, " + key.Namespace, "change its workloadSelector"
	case !exported:
		return field + ": " + quoteExport(strings.Join(to, ", "), key.Namespace), "export " + x.name(key) + " to namespace " + client
	case key.Namespace != client && key.Namespace != svc && key.Namespace != mesh.RootNamespace:
		return "rules count in the namespaces of the client (" + client + "), of the service (" + svc + ") and of the mesh (" + mesh.RootNamespace + ")", "move " + x.name(key) + " to one of these"
	case x.rule != nil && x.rule.From[0].Namespace == key.Namespace:
		return x.name(x.rule.From[0]) + " of the same namespace is used, and the two are not merged", "make one rule of the two"
	case x.rule != nil:
		return "that of namespace " + x.rule.From[0].Namespace + " goes first, and it counts as a whole (first the client's namespace, then the service's, then the mesh's)", "delete " + x.name(x.rule.From[0])
	}
	return "it is not in force", "let " + x.name(key) + " be the one in force"
}

// ruleOfWildcard finds a rule whose host is a wildcard, in the namespace of the rule
// in force.
func (x *inquiry) ruleOfWildcard() (key model.ObjectKey, why, remedy string) {
	for key, r := range x.rules {
		if x.rule == nil || key.Namespace != x.rule.From[0].Namespace || slices.Contains(x.rule.From, key) {
			continue // not in its way
		}
		if suffix, wild := strings.CutPrefix(r.Spec.GetHost(), "*"); wild && strings.HasSuffix(string(x.q.Host), suffix) {
			return x.rule.From[0], x.name(key) + " defines it for " + r.Spec.GetHost() + ", and the more specific host of " + x.name(x.rule.From[0]) + " goes before", ""
		}
	}
	return key, "", ""
}

// ruleOfShortName finds a rule whose host was meant to be this one, and is not.
func (x *inquiry) ruleOfShortName() (key model.ObjectKey, why, remedy string) {
	for key, r := range x.rules {
		host := r.Spec.GetHost()
		if name, _, _ := strings.Cut(host, "."); name != x.imp.Definition.Name || !strings.HasPrefix(string(x.q.Host), host) {
			continue // does not come close
		}
		means := scope.Qualify(host, key.Namespace, x.snap.Mesh.DomainSuffix)
		why = x.name(key) + " defines it for host " + host + ", which means " + string(means)
		if string(means) == host {
			why = x.name(key) + " defines it for host " + host + ", which is the name of no service"
		}
		return key, why, ", or write the host of " + x.name(key) + " in full"
	}
	return key, "", ""
}

// ruleOfCluster finds a rule for the host in a cluster whose rules are not read.
func (x *inquiry) ruleOfCluster() (key model.ObjectKey, why, remedy string) {
	for _, key := range x.objects.with(x.opts, model.KindDestinationRule, string(x.q.Host)) {
		if _, read := x.snap.Config(key); !read && x.mayName(key) {
			return key, x.name(key) + " is for the host, and Istio objects of other clusters are not read", ", or create that one in the cluster whose configuration is read"
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

// forHost tells whether the host of a rule means the host asked about.
func (x *inquiry) forHost(host, namespace string) bool {
	return scope.Qualify(host, namespace, x.snap.Mesh.DomainSuffix) == x.q.Host
}
