package audit

import (
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// Subset is a subset that a DestinationRule makes of a service, with what it
// matches.
type Subset struct {
	Rule   model.ObjectKey
	Name   string
	Labels model.Labels
	// Endpoints of all Of have the labels, and of these Ready are ready.
	Endpoints, Ready, Of int
}

// Subsets finds those of a service, in the order of the rules and in theirs.
// Whether a proxy sees the rule is another question.
func Subsets(snap *state.Snapshot, svc *state.ServiceState) []Subset {
	var out []Subset
	for c := range snap.Configs(model.KindDestinationRule) {
		r, ok := c.Object.(*networkingv1.DestinationRule)
		if !ok {
			continue // not of a version that is read
		}
		host := scope.Qualify(r.Spec.GetHost(), c.Key.Namespace, snap.Mesh.DomainSuffix)
		if !scope.Covers(host, svc.Key.Hostname) {
			continue // of another service
		}
		for _, s := range r.Spec.GetSubsets() {
			one := Subset{Rule: c.Key, Name: s.GetName(), Labels: s.GetLabels()}
			one.count(svc)
			out = append(out, one)
		}
	}
	return out
}

// Has tells whether the endpoint is in the subset.
func (s *Subset) Has(e *model.Endpoint) bool {
	return e.Workload != nil && s.Labels.SubsetOf(e.Workload.Labels)
}

func (s *Subset) count(svc *state.ServiceState) {
	for _, c := range svc.Candidates() {
		if c.Endpoint == nil {
			continue // not an endpoint; its own reason is told elsewhere
		}
		s.Of++
		if !s.Has(c.Endpoint) {
			continue // of another subset
		}
		s.Endpoints++
		if h := c.Endpoint.Health; h == model.Healthy || h == model.HealthUnset {
			s.Ready++
		}
	}
}
