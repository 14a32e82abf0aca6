package scope

import (
	"slices"
	"strings"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
)

// listener is an egress listener of a Sidecar.
type listener struct {
	hosts map[string]*hosts // by namespace, "*" for all
	// port is the only one that is imported; 0 for all.
	port uint32
}

// egress are the listeners of a Sidecar in the namespace: one that imports everything
// if there is no Sidecar, or it has none.
func egress(s *networkingv1.Sidecar, namespace string) []*listener {
	var given []*networking.IstioEgressListener
	if s != nil {
		given = s.Spec.GetEgress()
	}
	if len(given) == 0 {
		given = []*networking.IstioEgressListener{{Hosts: []string{"*/*"}}}
	}
	out := make([]*listener, len(given))
	for i, l := range given {
		out[i] = newListener(l, namespace)
	}
	return out
}

func newListener(l *networking.IstioEgressListener, namespace string) *listener {
	out := &listener{hosts: map[string]*hosts{}}
	for _, h := range l.GetHosts() {
		if strings.Count(h, "/") != 1 {
			continue
		}
		ns, name, _ := strings.Cut(h, "/")
		if ns == exportPrivate {
			ns = namespace
		}
		if out.hosts[ns] == nil {
			out.hosts[ns] = &hosts{}
		}
		out.hosts[ns].add(model.Hostname(name))
	}
	if p := l.GetPort(); model.ParseProtocol(p.GetProtocol()) != model.ProtocolHTTPProxy {
		out.port = p.GetNumber()
	}
	return out
}

// match returns the service as the listener imports it, or nil and why not.
func (l *listener) match(d *model.Service) (*model.Service, Why) {
	if !l.hosts[d.Key.Namespace].matches(d.Key.Hostname) && !l.hosts["*"].matches(d.Key.Hostname) {
		return nil, WhyNotImported
	}
	if l.port == 0 {
		return d, WhyOnly
	}
	if d = onlyPort(d, l.port); d == nil {
		return nil, WhyListenerPort
	}
	return d, WhyOnly
}

func (l *listener) matchesRoute(r *route) bool {
	return slices.ContainsFunc(r.hosts, func(h model.Hostname) bool {
		return l.hosts[r.key.Namespace].matchesRoute(h) || l.hosts["*"].matchesRoute(h)
	})
}

// destination returns the service as a VirtualService imports it that sends
// requests to these ports, all if there are none; nil if it has none of them.
func (l *listener) destination(d *model.Service, ports []uint32) *model.Service {
	switch {
	case l.port != 0:
		return onlyPort(d, l.port)
	case len(ports) == 0:
		return d
	}
	return onlyPorts(d, ports...)
}

// onlyPort returns the service with the first of its ports that has a number; nil
// if none has. As in Istio a second one, of another transport, is left out.
func onlyPort(d *model.Service, number uint32) *model.Service {
	i := slices.IndexFunc(d.Ports, func(p model.Port) bool { return p.Number == number })
	switch {
	case i < 0:
		return nil
	case len(d.Ports) == 1:
		return d
	}
	m := *d
	m.Ports = d.Ports[i : i+1 : i+1]
	return &m
}

// onlyPorts returns the service with those of its ports that are listed; nil if
// there are none.
func onlyPorts(d *model.Service, numbers ...uint32) *model.Service {
	var ports []model.Port
	for _, p := range d.Ports {
		if slices.Contains(numbers, p.Number) {
			ports = append(ports, p)
		}
	}
	switch len(ports) {
	case 0:
		return nil
	case len(d.Ports):
		return d
	}
	m := *d
	m.Ports = ports
	return &m
}

// visibleRoutes returns the VirtualServices that a namespace sees: its private
// ones, then those exported to it, then the public ones.
func (ix *index) visibleRoutes(namespace string) []*route {
	ranks := [3][]*route{}
	for _, r := range ix.routes {
		if r.exports.visibleIn(namespace) {
			n := r.exports.rank(r.key.Namespace, namespace)
			ranks[n] = append(ranks[n], r)
		}
	}
	return slices.Concat(ranks[0], ranks[1], ranks[2])
}
