package cds

import (
	"net"
	"slices"
	"strconv"
	"strings"

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
	for _, t := range Targets(b.scope.DefinitionsIn(b.proxy.Namespace), b.snap, b.proxy) {
		if t.Port.Protocol == model.ProtocolUDP {
			continue
		}
		b.add(Cluster{
			Name: inboundName(t.TargetPort), Type: OriginalDst,
			Service: b.snap.Service(t.Definition.Key), Definition: t.Definition, Port: t.Port,
		})
	}
}

func inboundName(port uint32) string { return "inbound|" + number(port) + "||" }

// ingress adds the cluster of an ingress listener: to the address that it names,
// or to wherever the connection goes.
func (b *builder) ingress(l *networking.IstioIngressListener) {
	c := Cluster{Name: inboundName(l.GetPort().GetNumber()), Type: OriginalDst}
	e, ok := b.defaultEndpoint(l.GetDefaultEndpoint())
	if ok {
		c.Type = Static
		c.Inline = &eds.Assignment{Cluster: c.Name, Localities: []eds.LocalityEndpoints{{Endpoints: []eds.LbEndpoint{e}}}}
	}
	b.add(c)
}

func (b *builder) defaultEndpoint(text string) (eds.LbEndpoint, bool) {
	if strings.HasPrefix(text, "unix://") {
		return eds.LbEndpoint{Candidate: -1, Address: text}, true
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return eds.LbEndpoint{}, false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return eds.LbEndpoint{}, false
	}
	return eds.LbEndpoint{Candidate: -1, Address: b.ownAddress(host), Port: uint32(n)}, true
}

// ownAddress puts the workload's address in the place of 0.0.0.0 and ::.
func (b *builder) ownAddress(host string) string {
	var want func(string) bool
	switch host {
	case "0.0.0.0":
		want = func(string) bool { return true }
	case "::":
		want = model.IsIPv6
	case "127.0.0.1", "::1":
		if len(b.proxy.IPs) > 0 && model.IsIPv6(b.proxy.IPs[0]) {
			return "::1"
		}
		return "127.0.0.1"
	default:
		return host
	}
	if i := slices.IndexFunc(b.proxy.IPs, want); i >= 0 {
		return b.proxy.IPs[i]
	}
	return host
}

// Target is a port of a service that the proxy's workload serves.
type Target struct {
	Definition *model.Service
	Port       model.Port
	TargetPort uint32
}

// Targets lists the ports of services that a workload serves, for each target
// port of a service the first. definitions are those of its namespace. A Pod
// belongs to the Services whose selector it matches, and only if there are none
// to those that list its address; it belongs to a ServiceEntry that has its
// address as an endpoint.
func Targets(definitions []*model.Service, snap *state.Snapshot, p *model.Proxy) []Target {
	var out []Target
	selected := false
	for _, d := range definitions {
		d = d.In(p.Cluster)
		if d != nil && d.Provider == model.ProviderKubernetes && len(d.Selector) > 0 && d.Resolution != model.Alias && d.Selector.SubsetOf(p.Labels) {
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
	var out []Target
	seen := map[uint32]bool{}
	for _, port := range d.Ports {
		n := targetPort(port, svc, p)
		if n == 0 || seen[n] {
			continue
		}
		seen[n] = true
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
