package explain

import (
	"slices"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
)

// outlierElsewhere says where an order is asked for without effect: by a
// trafficDistribution that is not known, or by outlierDetection for other subsets and
// ports of the rule in force, or in a rule for the host that does not hold.
func (x *inquiry) outlierElsewhere() string {
	if value := x.unknownDistribution(); value != "" {
		return "; " + x.name(x.imp.Definition.Object) + " has " + value + ", which is no known value"
	}
	if x.rule != nil {
		if places := outlierPlaces(x.rule.Spec); len(places) > 0 {
			return "; the rule sets it for " + and(places) + " only"
		}
	}
	for c := range x.snap.Configs(model.KindDestinationRule) {
		r, ok := c.Object.(*networkingv1.DestinationRule)
		if !ok || !x.forHost(r.Spec.GetHost(), c.Key.Namespace) || !x.mayName(c.Key) || (x.rule != nil && slices.Contains(x.rule.From, c.Key)) {
			continue // of another host, or in force
		}
		if r.Spec.GetTrafficPolicy().GetOutlierDetection() != nil {
			why, _ := x.notInForce(c.Key, r)
			return "; " + x.name(c.Key) + " sets it, but does not hold for a client in namespace " + x.proxy.Namespace + ", as " + why
		}
	}
	return ""
}

// outlierPlaces are the subsets and ports for which alone a rule sets
// outlierDetection.
func outlierPlaces(r *networking.DestinationRule) []string {
	var out []string
	ports := func(p *networking.TrafficPolicy, of string) {
		for _, s := range p.GetPortLevelSettings() {
			if s.GetOutlierDetection() != nil {
				out = append(out, "port "+number(s.GetPort().GetNumber())+of)
			}
		}
	}
	ports(r.GetTrafficPolicy(), "")
	for _, s := range r.GetSubsets() {
		if s.GetTrafficPolicy().GetOutlierDetection() != nil {
			out = append(out, "subset "+s.GetName())
		}
		ports(s.GetTrafficPolicy(), " of subset "+s.GetName())
	}
	return out
}
