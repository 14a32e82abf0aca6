package cds

import (
	"cmp"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	meshconfig "istio.io/api/mesh/v1alpha1"
	networking "istio.io/api/networking/v1alpha3"

	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// inbound adds the clusters of the proxy's own workload: those of the Sidecar's
// ingress listeners if it has any, else one per port of the services that the
// workload belongs to.
func (b *builder) inbound() {
	if s := b.scope.Sidecar; s != nil && len(s.Spec.GetIngress()) > 0 {
		for _, l := range s.Spec.GetIngress() {
			b.ingress(l)
		}
		return
	}
	// A mesh may have them connect to the workload itself, not to the address that
	// the client called.
	local := b.scope.Mesh().Config.GetInboundTrafficPolicy().GetMode() == meshconfig.MeshConfig_InboundTrafficPolicy_LOCALHOST
	for _, t := range Targets(b.scope.DefinitionsIn(b.proxy.Namespace), b.snap, b.proxy) {
		c := Cluster{
			Name: inboundName(t.TargetPort), Type: OriginalDst,
			Service: b.snap.Service(t.Definition.Key), Definition: t.Definition, Port: t.Port, inbound: true,
			Rule: b.scope.InboundRule(t.Definition.Key.Hostname),
		}
		if c.Rule != nil {
			c.policy.apply(c.Rule.Spec.GetTrafficPolicy(), t.Port.Number)
		}
		c.Variant.port = t.Port
		b.limit(&c, t.TargetPort)
		if local {
			c.connectTo(eds.LbEndpoint{Candidate: -1, Address: b.localhost(), Port: t.TargetPort})
		}
		b.add(c)
	}
}

// limit has the Sidecar's connection pool go before that of the rule.
func (b *builder) limit(c *Cluster, port uint32) {
	s := b.scope.Sidecar
	if s == nil {
		return
	}
	c.Variant.pool = s.Spec.GetInboundConnectionPool()
	for _, l := range s.Spec.GetIngress() {
		if l.GetPort().GetNumber() == port {
			c.Variant.pool = cmp.Or(l.GetConnectionPool(), c.Variant.pool)
		}
	}
	c.policy.pool = cmp.Or(c.Variant.pool, c.policy.pool)
}

// connectTo makes it a cluster of one endpoint.
func (c *Cluster) connectTo(e eds.LbEndpoint) {
	c.Type = Static
	c.Inline = &eds.Assignment{Cluster: c.Name, Localities: []eds.LocalityEndpoints{{Endpoints: []eds.LbEndpoint{e}}}}
}

func inboundName(port uint32) string { return "inbound|" + number(port) + "||" }

// ingress adds the cluster of an ingress listener: to the address that it names,
// or to wherever the connection goes. As in Istio there is none if what it names
// has no port that can be read.
func (b *builder) ingress(l *networking.IstioIngressListener) {
	c := Cluster{
		Name: inboundName(l.GetPort().GetNumber()), Type: OriginalDst, inbound: true,
		Port: model.Port{
			Name: l.GetPort().GetName(), Number: l.GetPort().GetNumber(), Protocol: model.ParseProtocol(l.GetPort().GetProtocol()),
		},
	}
	b.limit(&c, c.Port.Number)
	switch text := l.GetDefaultEndpoint(); {
	case text == "":
	case strings.HasPrefix(text, "unix://"):
		c.connectTo(eds.LbEndpoint{Candidate: -1, Address: text})
	default:
		host, port, err := net.SplitHostPort(text)
		if err != nil {
			return
		}
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return
		}
		if address := b.ownAddress(host); address != "" {
			c.connectTo(eds.LbEndpoint{Candidate: -1, Address: address, Port: uint32(n)})
		}
	}
	b.add(c)
}

// ownAddress is what the host of a default endpoint stands for: an address of the
// workload, or this machine. Other hosts mean nothing and give "".
func (b *builder) ownAddress(host string) string {
	switch host {
	case "0.0.0.0":
		return cmp.Or(b.firstIP(isIPv4), loopbackV4)
	case "::":
		return cmp.Or(b.firstIP(model.IsIPv6), loopbackV6)
	case loopbackV4:
		return b.localhost()
	case loopbackV6:
		if b.firstIP(model.IsIPv6) != "" {
			return loopbackV6
		}
		return loopbackV4
	}
	return ""
}

// localhost is of the family of the workload's addresses, IPv4 if it has both.
func (b *builder) localhost() string {
	if b.firstIP(isIPv4) == "" && b.firstIP(model.IsIPv6) != "" {
		return loopbackV6
	}
	return loopbackV4
}

const loopbackV4, loopbackV6 = "127.0.0.1", "::1"

func isIPv4(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Unmap().Is4()
}

func onlyIPv6(p *model.Proxy) bool {
	return len(p.IPs) > 0 && !slices.ContainsFunc(p.IPs, isIPv4)
}

// firstIP is the first address of the workload that is of a family, or "".
func (b *builder) firstIP(is func(string) bool) string {
	if i := slices.IndexFunc(b.proxy.IPs, is); i >= 0 {
		return b.proxy.IPs[i]
	}
	return ""
}

// Target is a port of a service that the proxy's workload serves.
type Target struct {
	Definition *model.Service
	Port       model.Port
	TargetPort uint32
}

// Targets lists the ports of services that a workload serves, for each target
// port of a service and protocol the first. definitions are those of its namespace. A Pod
// belongs to the Services whose selector it matches, and only if there are none
// to those that list its address; it belongs to a ServiceEntry that has its
// address as an endpoint.
func Targets(definitions []*model.Service, snap *state.Snapshot, p *model.Proxy) []Target {
	var out []Target
	selected := false
	for _, d := range definitions {
		d = d.In(p.Cluster)
		if d != nil && d.Provider == model.ProviderKubernetes && len(d.Selector) > 0 && d.Selector.SubsetOf(p.Labels) {
			selected = true
			out = append(out, targetsBySelector(d, snap.Service(d.Key), p)...)
		}
	}
	for _, d := range definitions {
		if d.Provider == model.ProviderExternal || (!selected && len(d.Selector) == 0) {
			out = append(out, targetsByAddress(d, snap.Service(d.Key), p)...)
		}
	}
	return out
}

func targetsBySelector(d *model.Service, svc *state.ServiceState, p *model.Proxy) []Target {
	type served struct {
		number   uint32
		protocol model.Protocol
	}
	var out []Target
	seen := map[served]bool{}
	for _, port := range d.Ports {
		n := targetPort(port, svc, p)
		k := served{n, port.Protocol}
		if n == 0 || seen[k] {
			continue
		}
		seen[k] = true
		out = append(out, Target{Definition: d, Port: port, TargetPort: n})
	}
	return out
}

// targetPort looks a named port up in the Pod's containers, or in what the slices
// say of the Pod.
func targetPort(port model.Port, svc *state.ServiceState, p *model.Proxy) uint32 {
	if port.TargetPortName == "" {
		if port.TargetPort == 0 {
			return port.Number
		}
		return port.TargetPort
	}
	if n, ok := p.ContainerPorts[port.TargetPortName]; ok {
		return n
	}
	for _, c := range ownCandidates(model.ProviderKubernetes, svc, p) {
		if c.Target != nil && *c.Target == p.Pod && c.PortName == port.Name {
			return c.Port
		}
	}
	return 0
}

func targetsByAddress(d *model.Service, svc *state.ServiceState, p *model.Proxy) []Target {
	var out []Target
	addresses := p.IPs
	if d.Provider == model.ProviderKubernetes {
		addresses = p.IPs[:min(1, len(p.IPs))] // by which Kubernetes knows the Pod
	}
	for _, c := range ownCandidates(d.Provider, svc, p) {
		if c.Endpoint == nil || !slices.Contains(addresses, c.Endpoint.Address()) {
			continue
		}
		for _, port := range d.Ports {
			if port.Name == c.Endpoint.PortName {
				out = append(out, Target{Definition: d, Port: port, TargetPort: c.Endpoint.Port})
			}
		}
	}
	return out
}

// ownCandidates are those among which the proxy's own endpoints are: the
// addresses of another cluster mean other workloads.
func ownCandidates(provider model.Provider, svc *state.ServiceState, p *model.Proxy) []*model.Candidate {
	if svc == nil {
		return nil
	}
	for _, sh := range svc.Shards {
		if sh.Key.Provider == provider && (provider == model.ProviderExternal || sh.Key.Cluster == p.Cluster) {
			return sh.Candidates
		}
	}
	return nil
}
