package audit

import (
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// workloadEntries finds those without an address, and those that are endpoints of
// nothing.
func workloadEntries(snap *state.Snapshot) []Problem {
	entries := configs[*networkingv1.WorkloadEntry](snap, model.KindWorkloadEntry)
	if len(entries) == 0 {
		return nil
	}
	sources := map[model.ObjectKey]bool{}
	for svc := range snap.Services() {
		for _, sh := range svc.Shards {
			for _, chunk := range sh.Chunks {
				sources[chunk.Source] = true
			}
		}
	}
	var out []Problem
	for _, c := range entries {
		if c.object.Spec.GetAddress() == "" && c.object.Spec.GetNetwork() == "" {
			out = append(out, Problem{
				Object: c.key, Field: "spec.address", Message: "there is neither an address nor a network with a gateway by which it could be reached",
				Remedy: "give it its address",
			})
		}
		if !sources[c.key] {
			out = append(out, Problem{
				Object: c.key, Field: "spec.labels",
				Message: "it is an endpoint of nothing: neither a ServiceEntry nor a Service with a cluster IP in namespace " + c.key.Namespace + " selects it",
				Remedy:  "compare its labels with the selectors of the services in this namespace",
			})
		}
	}
	return out
}
