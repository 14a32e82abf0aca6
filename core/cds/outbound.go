package cds

import (
	networking "istio.io/api/networking/v1alpha3"

	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// outbound adds the clusters of a service: one per port, and one per port and
// subset. Names that are resolved when a request comes are for waypoints only.
func (b *builder) outbound(im *scope.Import) {
	d := im.Definition
	if d.Resolution == model.Alias || d.Resolution == model.DynamicDNS {
		return
	}
	o := outbound{builder: b, im: im, service: b.snap.Service(d.Key), rule: b.scope.Rule(im, b.proxy)}
	for _, port := range d.Ports {
		if port.Protocol == model.ProtocolUDP {
			continue
		}
		o.cluster(port, nil, false)
		for _, s := range o.subsets() {
			o.cluster(port, s, false)
		}
		if d.MeshExternal || !b.scope.PassesThrough(b.proxy) {
			continue
		}
		o.cluster(port, nil, true)
		for _, s := range o.subsets() {
			o.cluster(port, s, true)
		}
	}
}

// outbound is the work on one service.
type outbound struct {
	*builder
	im      *scope.Import
	service *state.ServiceState
	rule    *scope.Rule
}

func (o *outbound) subsets() []*networking.Subset {
	if o.rule == nil {
		return nil
	}
	return o.rule.Spec.GetSubsets()
}

// cluster adds one cluster; sni is for gateways that pass mTLS through.
func (o *outbound) cluster(port model.Port, subset *networking.Subset, sni bool) {
	d := o.im.Definition
	c := Cluster{
		Name: Name(port.Number, subset.GetName(), d.Key.Hostname), Type: typeOf(d, o.proxy),
		Service: o.service, Definition: d, Port: port, Subset: subset.GetName(), Rule: o.rule,
	}
	if sni {
		c.Name = passthroughName(port.Number, c.Subset, d.Key.Hostname)
	}
	policy := o.policy(port.Number, subset)
	c.policy = policy
	c.View = o.view(&c, subset, policy, sni)
	if c.Type == StrictDNS || c.Type == LogicalDNS {
		if c.Inline = eds.Build(o.service, c.View); len(c.Inline.Localities) == 0 {
			return // Envoy refuses a DNS cluster without a name to look up
		}
	}
	switch {
	case policy.passthrough(), o.policy(port.Number, nil).passthrough(): // subsets do not take it back
		c.Type, c.Inline = OriginalDst, nil
	case c.Type == EDS:
		c.EDSServiceName = c.Name
	}
	if c.Type == OriginalDst {
		c.View = eds.View{}
	}
	o.add(c)
}

// typeOf says how the endpoints of a service are found. Routers have no original
// destination.
func typeOf(d *model.Service, p *model.Proxy) Type {
	switch d.Resolution {
	case model.DNSLB:
		return StrictDNS
	case model.DNSRoundRobinLB:
		return LogicalDNS
	case model.Passthrough:
		if p.Type == model.Router {
			return EDS
		}
		return OriginalDst
	case model.ClientSideLB, model.Alias, model.DynamicDNS:
	}
	return EDS
}
