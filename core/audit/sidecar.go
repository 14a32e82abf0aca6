package audit

import (
	"slices"

	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// sidecars finds those whose selector selects no proxy.
func sidecars(snap *state.Snapshot) []Problem {
	var out []Problem
	labels := map[string][]model.Labels{}
	for p := range snap.Proxies() {
		if p.Type == model.Sidecar {
			labels[p.Namespace] = append(labels[p.Namespace], p.Labels)
		}
	}
	for c := range snap.Configs(model.KindSidecar) {
		s, ok := c.Object.(*networkingv1.Sidecar)
		if !ok || s.Spec.GetWorkloadSelector() == nil {
			continue // it applies to its whole namespace
		}
		want := model.Labels(s.Spec.GetWorkloadSelector().GetLabels())
		if selectsAny(want, labels[c.Key.Namespace]) {
			continue
		}
		out = append(out, Problem{
			Object: c.Key, Field: "spec.workloadSelector.labels",
			Message: "no Pod with a sidecar in namespace " + c.Key.Namespace + " has " + labelText(want) + ", so this Sidecar applies to nothing",
			Remedy:  "compare the selector with the labels of the Pods in this namespace",
		})
	}
	return out
}

func selectsAny(want model.Labels, all []model.Labels) bool {
	return slices.ContainsFunc(all, want.SubsetOf)
}
