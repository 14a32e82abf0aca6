package cds

import (
	networking "istio.io/api/networking/v1alpha3"
)

// policy is what of a DestinationRule's traffic policies holds for one port and
// subset.
type policy struct {
	loadBalancer *networking.LoadBalancerSettings
	outlier      bool
	ejection     *networking.OutlierDetection
	pool         *networking.ConnectionPoolSettings
	// tls is set by the policy of the cluster itself: a subset does not take over
	// the rule's.
	tls *networking.ClientTLSSettings
	// clientTLS is what the connection uses: the subset's, else the rule's.
	clientTLS *networking.ClientTLSSettings
}

func (o *outbound) policy(port uint32, subset *networking.Subset) policy {
	if o.rule == nil {
		return policy{}
	}
	general := o.rule.Spec.GetTrafficPolicy()
	p := policy{}
	p.apply(general, port)
	p.tls = tlsOf(general, port)
	p.clientTLS = p.tls
	if subset != nil {
		p.apply(subset.GetTrafficPolicy(), port)
		p.tls = tlsOf(subset.GetTrafficPolicy(), port)
		if p.tls != nil {
			p.clientTLS = p.tls
		}
	}
	return p
}

// apply lays a traffic policy over p. What it says for the port replaces all of
// its and p's settings; they do not shine through.
func (p *policy) apply(tp *networking.TrafficPolicy, port uint32) {
	if tp == nil {
		return
	}
	if tp.GetLoadBalancer() != nil {
		p.loadBalancer = tp.GetLoadBalancer()
	}
	if tp.GetOutlierDetection() != nil {
		p.ejection = tp.GetOutlierDetection()
	}
	if tp.GetConnectionPool() != nil {
		p.pool = tp.GetConnectionPool()
	}
	p.outlier = p.ejection != nil
	for _, l := range tp.GetPortLevelSettings() {
		if l.GetPort().GetNumber() == port {
			p.loadBalancer, p.ejection, p.pool = l.GetLoadBalancer(), l.GetOutlierDetection(), l.GetConnectionPool()
			p.outlier = p.ejection != nil
			return
		}
	}
}

func tlsOf(tp *networking.TrafficPolicy, port uint32) *networking.ClientTLSSettings {
	tls := tp.GetTls()
	for _, l := range tp.GetPortLevelSettings() {
		if l.GetPort().GetNumber() == port && l.GetTls() != nil {
			return l.GetTls()
		}
	}
	return tls
}

// passthrough tells whether the connection's own destination is used, whatever
// the endpoints are.
func (p policy) passthrough() bool {
	return p.loadBalancer.GetSimple() == networking.LoadBalancerSettings_PASSTHROUGH
}
