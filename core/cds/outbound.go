package cds

import (
	networking "istio.io/api/networking/v1alpha3"

	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// outbound adds the clusters of a service: one per port, and one per port and
// subset.
func (b *builder) outbound(im *scope.Import) {
	d := im.Definition
	if TypeOf(d, b.proxy) == none {
		return
	}
	o := outbound{builder: b, im: im, service: b.snap.Service(d.Key), rule: b.scope.Rule(im, b.proxy)}
	for _, port := range d.Ports {
		if port.Protocol == model.ProtocolUDP {
			continue
		}
		o.clusters(port, false)
		if !d.MeshExternal && b.scope.PassesThrough(b.proxy) {
			o.clusters(port, true)
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

// clusters adds the cluster of a port, and if there is one those of the subsets; sni
// is for gateways that pass mTLS through.
func (o *outbound) clusters(port model.Port, sni bool) {
	if !o.cluster(port, nil, sni) {
		return
	}
	for _, s := range o.subsets() {
		o.cluster(port, s, sni)
	}
}

// cluster adds one cluster, and tells whether there is one.
func (o *outbound) cluster(port model.Port, subset *networking.Subset, sni bool) bool {
	d := o.im.Definition
	c := Cluster{
		Name: Name(port.Number, subset.GetName(), d.Key.Hostname), Type: TypeOf(d, o.proxy),
		Service: o.service, Definition: d, Port: port, Subset: subset.GetName(), Rule: o.rule,
	}
	if sni {
		c.Name = passthroughName(port.Number, c.Subset, d.Key.Hostname)
	}
	c.policy = o.policy(port.Number, subset)
	// Subsets do not take it back, nor do their ports.
	passthrough := o.policy(port.Number, nil).passthrough() || passesThrough(subset.GetTrafficPolicy().GetLoadBalancer())
	c.View = o.view(&c, subset, c.policy, sni)
	if c.Type == StrictDNS || c.Type == LogicalDNS {
		// A subset that passes through needs no endpoints, if its service has some.
		if c.Inline = eds.Build(o.service, c.View); len(c.Inline.Localities) == 0 && (!passthrough || subset == nil) {
			return false // Envoy refuses a DNS cluster without a name to look up
		}
	}
	o.connection(&c, sni)
	switch {
	case !o.proxy.GRPC && (passthrough || c.policy.passthrough()):
		c.Type, c.Inline = OriginalDst, nil
	case c.Type == EDS:
		c.EDSServiceName = c.Name
	}
	if c.Type == OriginalDst {
		c.View = eds.View{}
	}
	o.add(c)
	return true
}

// connection settles what the proxy and the mesh have a say in.
func (o *outbound) connection(c *Cluster, sni bool) {
	c.Variant.Router, c.Variant.Family = o.proxy.Type == model.Router, familyOf(o.proxy, o.scope.Mesh())
	c.upgrade = upgrades(c.policy.pool, o.scope.Mesh().Config, c.Port.Protocol)
	switch {
	case sni: // the client's TLS goes through
		c.policy.clientTLS, c.policy.proxyProtocol = nil, nil
	case c.policy.clientTLS.GetCredentialName() != "" && !c.Variant.Router && o.rule.Spec.GetWorkloadSelector() == nil:
		c.policy.clientTLS = nil // a credential for all sidecars is for none
	}
}

// TypeOf says how the endpoints of a service are found, if no DestinationRule says
// otherwise. Routers and libraries of gRPC have no original destination, and names that
// are resolved when a request comes are for waypoints only.
func TypeOf(d *model.Service, p *model.Proxy) Type {
	switch d.Resolution {
	case model.DNSLB:
		return StrictDNS
	case model.DNSRoundRobinLB:
		return LogicalDNS
	case model.Passthrough:
		if p.Type == model.Router || p.GRPC {
			return EDS
		}
		return OriginalDst
	case model.Alias, model.DynamicDNS:
		return none
	case model.ClientSideLB:
	}
	return EDS
}
