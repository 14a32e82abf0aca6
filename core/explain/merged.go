package explain

import (
	"slices"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
)

// policyPart is what of a traffic policy holds for all ports, or for one.
type policyPart interface {
	GetLoadBalancer() *networking.LoadBalancerSettings
	GetOutlierDetection() *networking.OutlierDetection
	GetTls() *networking.ClientTLSSettings
}

func hasLoadBalancer(p policyPart) bool { return p.GetLoadBalancer() != nil }

func hasOutlierDetection(p policyPart) bool { return p.GetOutlierDetection() != nil }

func hasTLS(p policyPart) bool { return p.GetTls() != nil }

// subsetRule is the DestinationRule that defines the subset asked for: of those that are
// merged into the rule in force the first that does.
func (x *inquiry) subsetRule() model.ObjectKey { return x.ruleWith(x.definesSubset) }

// policyRule is the DestinationRule whose traffic policy holds for what is asked: that
// of the subset if it says something of it, else the first merged one with a policy.
func (x *inquiry) policyRule(has func(policyPart) bool) model.ObjectKey {
	if slices.ContainsFunc(x.rule.Spec.GetSubsets(), func(s *networking.Subset) bool {
		return s.GetName() == x.q.Subset && x.says(s.GetTrafficPolicy(), has)
	}) {
		return x.subsetRule()
	}
	return x.ruleWith(func(r *networking.DestinationRule) bool { return r.GetTrafficPolicy() != nil })
}

// says tells whether a policy has something for the port asked about.
func (x *inquiry) says(p *networking.TrafficPolicy, has func(policyPart) bool) bool {
	return has(p) || slices.ContainsFunc(p.GetPortLevelSettings(), func(s *networking.TrafficPolicy_PortTrafficPolicy) bool {
		return s.GetPort().GetNumber() == x.q.Port && has(s)
	})
}

// ruleWith is the first of the DestinationRules that make up the one in force for which
// ok holds, else the first.
func (x *inquiry) ruleWith(ok func(*networking.DestinationRule) bool) model.ObjectKey {
	for _, key := range x.rule.From {
		if r := config[*networkingv1.DestinationRule](x, &key); r != nil && ok(&r.Spec) {
			return key
		}
	}
	return x.rule.From[0]
}
