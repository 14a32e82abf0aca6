package audit

import (
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// overlaidRules finds what of DestinationRules does not count because an older rule
// of the namespace says it for the same clients and host, and those that are private
// to a namespace in which another rule for the host selects workloads: they are merged
// into that one.
func overlaidRules(snap *state.Snapshot) []Problem {
	overlays, lost := scope.Overlays(snap)
	out := make([]Problem, 0, len(overlays)+len(lost))
	for _, o := range overlays {
		field, what, remedy := "spec.trafficPolicy", "a trafficPolicy", "put the two policies into one rule"
		if o.Subset != nil {
			field, what, remedy = subsetField(o.Index), "a subset "+o.Subset.GetName(), "delete one of the two, or give this one another name"
		}
		message := "the older DestinationRule " + o.By.Name + " has " + what + " for the host"
		if o.By == o.Rule {
			message = "the rule has " + what + " for the host before"
		}
		out = append(out, Problem{Object: o.Rule, Field: field, Message: message + ", so this one does not count", Remedy: remedy})
	}
	for key, by := range lost {
		out = append(out, Problem{
			Object: key, Field: "spec.exportTo",
			Message: "exportTo \".\" has Istio merge the rule into DestinationRule " + by.Name + ", which has a workloadSelector: it is in force for no other workload",
			Remedy:  "leave exportTo out, or name one more namespace",
		})
	}
	return out
}
