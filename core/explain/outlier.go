package explain

import networking "istio.io/api/networking/v1alpha3"

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
	detects := func(r *networking.DestinationRule) bool { return r.GetTrafficPolicy().GetOutlierDetection() != nil }
	for r := range x.passedOver(detects) {
		why, _ := x.notInForce(r)
		return "; " + x.name(r.key) + " sets it, but " + why
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
