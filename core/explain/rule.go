package explain

import (
	"iter"
	"slices"
	"strings"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
)

// rules iterates over the DestinationRules that have something and may be named.
func (x *inquiry) rules(have func(*networking.DestinationRule) bool) iter.Seq2[model.ObjectKey, *networking.DestinationRule] {
	return func(yield func(model.ObjectKey, *networking.DestinationRule) bool) {
		for c := range x.snap.Configs(model.KindDestinationRule) {
			r, ok := c.Object.(*networkingv1.DestinationRule)
			if !ok || !have(&r.Spec) || !x.mayName(c.Key) {
				continue // another one
			}
			if !yield(c.Key, &r.Spec) {
				return
			}
		}
	}
}

// passedOver is a DestinationRule for the host that does not hold for the proxy.
type passedOver struct {
	key  model.ObjectKey
	spec *networking.DestinationRule
	why  scope.RuleWhy
	by   *scope.Rule // the one in its way, nil if there is none
}

// passedOver iterates over those that have something and may be named.
func (x *inquiry) passedOver(have func(*networking.DestinationRule) bool) iter.Seq[passedOver] {
	return func(yield func(passedOver) bool) {
		for key, spec := range x.rules(have) {
			why, by := x.scope.RuleVerdict(x.imp, x.proxy, key)
			if why == scope.RuleOtherHost || why == scope.RuleInForce {
				continue // not passed over
			}
			if !yield(passedOver{key, spec, why, by}) {
				return
			}
		}
	}
}

// notInForce says why a rule does not hold, and what would change it.
func (x *inquiry) notInForce(r passedOver) (why, remedy string) {
	why, remedy = x.passedOverAs(r)
	return "does not hold for a client in namespace " + x.proxy.Namespace + ", as " + why, remedy
}

func (x *inquiry) passedOverAs(r passedOver) (why, remedy string) {
	mesh, svc, client := x.snap.Mesh.RootNamespace, x.imp.Definition.Key.Namespace, x.proxy.Namespace
	by := model.ObjectKey{}
	if r.by != nil {
		by = r.by.From[0]
	}
	switch r.why {
	case scope.RuleNotSelected:
		return "its workloadSelector (" + labelText(r.spec.GetWorkloadSelector().GetMatchLabels()) + ") takes in only such clients in its own namespace, " + r.key.Namespace, "change its workloadSelector"
	case scope.RuleNotExported:
		to, field := r.spec.GetExportTo(), "it has exportTo"
		if len(to) == 0 {
			to, field = x.snap.Mesh.Config.GetDefaultDestinationRuleExportTo(), "it has no exportTo of its own, and "+x.name(x.meshObject())+" has defaultDestinationRuleExportTo"
		}
		return field + ": " + quoteExport(strings.Join(to, ", "), r.key.Namespace), "export " + x.name(r.key) + " to namespace " + client
	case scope.RuleElsewhere:
		return "rules count in the namespaces of the client (" + client + "), of the service (" + svc + ") and of the mesh (" + mesh + ")", "move " + x.name(r.key) + " to one of these"
	case scope.RuleOtherNamespace:
		return "that of namespace " + by.Namespace + " goes first, and it counts as a whole (first the client's namespace, then the service's, then the mesh's)", "delete " + x.name(by)
	case scope.RuleLessSpecific:
		return "the more specific host of " + x.name(by) + " goes before", "put into " + x.name(by) + " what " + x.name(r.key) + " has"
	case scope.RuleMergedAway:
		if sel := r.by.Spec.GetWorkloadSelector(); sel != nil {
			return "it is merged into " + x.name(by) + ", which is only for workloads with " + labelText(sel.GetMatchLabels()), "leave exportTo of " + x.name(r.key) + " out"
		}
		return "it is merged into " + x.name(by) + ", which is exported to fewer namespaces", "export " + x.name(by) + " to namespace " + client
	case scope.RuleOtherPicked, scope.RuleOtherHost, scope.RuleInForce: // the last two are not passed over
	}
	return x.name(by) + " of the same namespace is used, and the two are not merged", "make one rule of the two"
}

func subsetNames(list []*networking.Subset) []string {
	out := make([]string, 0, len(list))
	for _, s := range list {
		out = append(out, s.GetName())
	}
	return out
}

// definesSubset tells whether a rule has the subset asked for.
func (x *inquiry) definesSubset(r *networking.DestinationRule) bool {
	return slices.Contains(subsetNames(r.GetSubsets()), x.q.Subset)
}
