package cds

import (
	"cmp"

	meshconfig "istio.io/api/mesh/v1alpha1"
	networking "istio.io/api/networking/v1alpha3"

	"github.com/edsight/edsight/core/model"
)

// policy is what of a DestinationRule's traffic policies holds for one port and
// subset.
type policy struct {
	loadBalancer *networking.LoadBalancerSettings
	ejection     *networking.OutlierDetection
	pool         *networking.ConnectionPoolSettings
	retryBudget  *networking.TrafficPolicy_RetryBudget
	// tls is what endpoints are chosen by: a subset does not take over the rule's,
	// but a port does.
	tls *networking.ClientTLSSettings
	// clientTLS is what the connection uses: the subset's, else the rule's; where
	// there are settings for the port, only those.
	clientTLS     *networking.ClientTLSSettings
	proxyProtocol *networking.TrafficPolicy_ProxyProtocol
}

func (o *outbound) policy(port uint32, subset *networking.Subset) policy {
	if o.rule == nil {
		return policy{}
	}
	general := o.rule.Spec.GetTrafficPolicy()
	p := policy{}
	p.apply(general, port)
	p.tls = tlsOf(general, port)
	if subset != nil {
		if general != nil && subset.GetTrafficPolicy() != nil {
			p.retryBudget = nil // as in Istio 1.28, which loses it
		}
		p.apply(subset.GetTrafficPolicy(), port)
		p.tls = tlsOf(subset.GetTrafficPolicy(), port)
	}
	return p
}

// apply lays a traffic policy over p. What it says for the port replaces all of
// its and p's settings; they do not shine through.
func (p *policy) apply(tp *networking.TrafficPolicy, port uint32) {
	if tp == nil {
		return
	}
	if l := portLevel(tp, port); l != nil {
		p.loadBalancer, p.ejection, p.pool, p.clientTLS = l.GetLoadBalancer(), l.GetOutlierDetection(), l.GetConnectionPool(), l.GetTls()
		return
	}
	p.loadBalancer = cmp.Or(tp.GetLoadBalancer(), p.loadBalancer)
	p.ejection = cmp.Or(tp.GetOutlierDetection(), p.ejection)
	p.pool = cmp.Or(tp.GetConnectionPool(), p.pool)
	p.clientTLS = cmp.Or(tp.GetTls(), p.clientTLS)
	p.proxyProtocol = cmp.Or(tp.GetProxyProtocol(), p.proxyProtocol)
	p.retryBudget = cmp.Or(tp.GetRetryBudget(), p.retryBudget)
}

// portLevel finds the settings for a port, nil if there are none.
func portLevel(tp *networking.TrafficPolicy, port uint32) *networking.TrafficPolicy_PortTrafficPolicy {
	for _, l := range tp.GetPortLevelSettings() {
		if l.GetPort().GetNumber() == port {
			return l
		}
	}
	return nil
}

func tlsOf(tp *networking.TrafficPolicy, port uint32) *networking.ClientTLSSettings {
	return cmp.Or(portLevel(tp, port).GetTls(), tp.GetTls())
}

// passthrough tells whether the connection's own destination is used, whatever
// the endpoints are.
func (p policy) passthrough() bool { return passesThrough(p.loadBalancer) }

func passesThrough(lb *networking.LoadBalancerSettings) bool {
	return lb.GetSimple() == networking.LoadBalancerSettings_PASSTHROUGH
}

// upgrades tells whether HTTP/1 becomes HTTP/2: as the rule says of any port, or
// the mesh of those for HTTP.
func upgrades(pool *networking.ConnectionPoolSettings, mesh *meshconfig.MeshConfig, p model.Protocol) bool {
	switch pool.GetHttp().GetH2UpgradePolicy() {
	case networking.ConnectionPoolSettings_HTTPSettings_UPGRADE:
		return true
	case networking.ConnectionPoolSettings_HTTPSettings_DO_NOT_UPGRADE:
		return false
	case networking.ConnectionPoolSettings_HTTPSettings_DEFAULT:
	}
	return p.IsHTTP() && mesh.GetH2UpgradePolicy() == meshconfig.MeshConfig_UPGRADE
}
