package scope

import (
	"cmp"
	"slices"
	"strings"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// GatewayListener is a port on which Gateways have a router listen, and what it
// serves there: HTTP, or connections as they are.
type GatewayListener struct {
	// Bind is the address, "" for all.
	Bind      string
	Port      uint32
	HTTP, TCP bool
}

// GatewayListeners lists those of a router by port. There is none for a server of
// connections that no route leads on from.
func GatewayListeners(snap *state.Snapshot, p *model.Proxy) []GatewayListener {
	var out []GatewayListener
	var routes []*networkingv1.VirtualService
	for _, vs := range virtualServices(snap) {
		if VirtualServiceExports(snap.Mesh, vs).visibleIn(p.Namespace) {
			routes = append(routes, vs)
		}
	}
	for g := range gateways(snap) {
		if !selectsRouter(snap.Mesh, g, p) {
			continue // another router's
		}
		for _, s := range g.Spec.GetServers() {
			l := GatewayListener{Bind: s.GetBind(), Port: s.GetPort().GetNumber(), HTTP: servesHTTP(s)}
			l.TCP = !l.HTTP && (autoPassthrough(s) || slices.ContainsFunc(routes, func(vs *networkingv1.VirtualService) bool {
				return leadsOn(vs, g, s, snap.Mesh.DomainSuffix)
			}))
			if l.HTTP || l.TCP {
				out = append(out, l)
			}
		}
	}
	slices.SortFunc(out, func(a, b GatewayListener) int {
		return cmp.Or(cmp.Compare(a.Port, b.Port), cmp.Compare(a.Bind, b.Bind))
	})
	var merged []GatewayListener
	for _, l := range out {
		if n := len(merged) - 1; n >= 0 && merged[n].Port == l.Port && merged[n].Bind == l.Bind {
			merged[n].HTTP, merged[n].TCP = merged[n].HTTP || l.HTTP, merged[n].TCP || l.TCP
		} else {
			merged = append(merged, l)
		}
	}
	return merged
}

func autoPassthrough(s *networking.Server) bool {
	return s.GetTls().GetMode() == networking.ServerTLSSettings_AUTO_PASSTHROUGH
}

// leadsOn tells whether a VirtualService has a route for the connections that a
// server of a Gateway takes: by TLS where it passes that through, else by TCP.
func leadsOn(vs *networkingv1.VirtualService, g *networkingv1.Gateway, s *networking.Server, domain string) bool {
	name := g.Namespace + "/" + g.Name
	bound := func(names []string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return n == name || n == g.Name && vs.Namespace == g.Namespace })
	}
	if !bound(vs.Spec.GetGateways()) || !sharesHost(vs, g, s, domain) {
		return false
	}
	matches := func(port uint32, gateways []string) bool {
		return (port == 0 || port == s.GetPort().GetNumber()) && (len(gateways) == 0 || bound(gateways))
	}
	if s.GetTls().GetMode() == networking.ServerTLSSettings_PASSTHROUGH && s.GetTls() != nil {
		return slices.ContainsFunc(vs.Spec.GetTls(), func(t *networking.TLSRoute) bool {
			return slices.ContainsFunc(t.GetMatch(), func(m *networking.TLSMatchAttributes) bool { return matches(m.GetPort(), m.GetGateways()) })
		})
	}
	return slices.ContainsFunc(vs.Spec.GetTcp(), func(t *networking.TCPRoute) bool {
		return len(t.GetMatch()) == 0 ||
			slices.ContainsFunc(t.GetMatch(), func(m *networking.L4MatchAttributes) bool { return matches(m.GetPort(), m.GetGateways()) })
	})
}

// sharesHost tells whether a VirtualService is for a host of the Gateway's server,
// which may say of which namespace it is to be.
func sharesHost(vs *networkingv1.VirtualService, g *networkingv1.Gateway, s *networking.Server, domain string) bool {
	for _, h := range s.GetHosts() {
		ns, host, qualified := strings.Cut(h, "/")
		switch {
		case !qualified:
			host = h
		case ns == exportPublic, ns == vs.Namespace, ns == exportPrivate && vs.Namespace == g.Namespace:
		default:
			continue // for the routes of another namespace
		}
		if slices.ContainsFunc(vs.Spec.GetHosts(), func(v string) bool {
			return Overlaps(Qualify(v, vs.Namespace, domain), model.Hostname(host))
		}) {
			return true
		}
	}
	return false
}
