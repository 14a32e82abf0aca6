package audit

import (
	"slices"
	"strings"

	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// overlaidRules finds what of a DestinationRule does not count because an older
// rule of its namespace says it for the same clients and host.
func overlaidRules(snap *state.Snapshot) []Problem {
	var out []Problem
	rules := map[string]*overlaid{}
	for _, c := range configs[*networkingv1.DestinationRule](snap, model.KindDestinationRule) {
		if c.object.Spec.GetWorkloadSelector() != nil {
			continue // for some workloads only
		}
		host := scope.Qualify(c.object.Spec.GetHost(), c.key.Namespace, snap.Mesh.DomainSuffix)
		same := strings.Join(append(slices.Sorted(slices.Values(c.object.Spec.GetExportTo())), c.key.Namespace, string(host)), " ")
		if rules[same] == nil {
			rules[same] = &overlaid{subsets: map[string]string{}}
		}
		out = append(out, rules[same].add(c)...)
	}
	return out
}

// lostRules finds the general DestinationRules that are private to a namespace
// in which another rule for the host selects workloads: they are merged into that
// one, and are in force for no other workload.
func lostRules(snap *state.Snapshot) []Problem {
	rules, selecting := configs[*networkingv1.DestinationRule](snap, model.KindDestinationRule), map[model.ServiceKey]string{}
	hostOf := func(c config[*networkingv1.DestinationRule]) model.ServiceKey {
		return model.ServiceKey{Hostname: scope.Qualify(c.object.Spec.GetHost(), c.key.Namespace, snap.Mesh.DomainSuffix), Namespace: c.key.Namespace}
	}
	for _, c := range rules {
		if c.object.Spec.GetWorkloadSelector() != nil {
			selecting[hostOf(c)] = c.key.Name
		}
	}
	var out []Problem
	for _, c := range rules {
		private := c.object.Spec.GetWorkloadSelector() == nil && slices.Equal(c.object.Spec.GetExportTo(), []string{"."})
		if by := selecting[hostOf(c)]; private && by != "" {
			out = append(out, Problem{
				Object: c.key, Field: "spec.exportTo",
				Message: "exportTo \".\" has Istio merge the rule into DestinationRule " + by + ", which has a workloadSelector: it is in force for no other workload",
				Remedy:  "leave exportTo out, or name one more namespace",
			})
		}
	}
	return out
}

// overlaid says which rule has what.
type overlaid struct {
	policy  string
	subsets map[string]string
}

func (o *overlaid) add(c config[*networkingv1.DestinationRule]) []Problem {
	var out []Problem
	find := func(field, what, by string) {
		why := "the older DestinationRule " + by + " has " + what
		if by == c.key.Name {
			why = "the rule has " + what + " before"
		}
		out = append(out, Problem{
			Object: c.key, Field: field, Message: why + ", so this one does not count", Remedy: "delete one of the two, or give this one another name",
		})
	}
	if c.object.Spec.GetTrafficPolicy() != nil {
		if o.policy != "" {
			find("spec.trafficPolicy", "a trafficPolicy for the host", o.policy)
			out[len(out)-1].Remedy = "put the two policies into one rule"
		} else {
			o.policy = c.key.Name
		}
	}
	for i, s := range c.object.Spec.GetSubsets() {
		if by := o.subsets[s.GetName()]; by != "" {
			find(subsetField(i), "a subset "+s.GetName()+" for the host", by)
		} else {
			o.subsets[s.GetName()] = c.key.Name
		}
	}
	return out
}
