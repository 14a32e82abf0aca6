package scope

import (
	"maps"
	"slices"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

const meshGateway = "mesh"

// route is a VirtualService of the mesh gateway: whom it concerns and where it
// sends requests.
type route struct {
	key          model.ObjectKey
	exports      Exports
	hosts        []model.Hostname
	destinations []destination
}

// destination is a place that requests from some namespaces are sent to.
type destination struct {
	host model.Hostname
	port uint32 // 0: any
	// from are the namespaces whose requests it gets; nil: all.
	from []string
}

func newRoutes(snap *state.Snapshot) []*route {
	objects := virtualServices(snap)
	keys := slices.SortedFunc(maps.Keys(objects), func(a, b model.ObjectKey) int {
		if c := compareObjects(objects[a], objects[b]); c != 0 {
			return c
		}
		return a.Compare(b)
	})
	var out []*route
	for _, k := range keys {
		vs := objects[k]
		if len(vs.Spec.GetHosts()) == 0 || !ForMesh(vs.Spec.GetGateways()) {
			continue // a delegate, or for gateways only
		}
		r := &route{key: k, exports: VirtualServiceExports(snap.Mesh, vs)}
		for _, h := range vs.Spec.GetHosts() {
			r.hosts = append(r.hosts, Qualify(h, k.Namespace, snap.Mesh.DomainSuffix))
		}
		r.destinations = destinationsOf(k, objects, snap.Mesh)
		out = append(out, r)
	}
	return out
}

func virtualServices(snap *state.Snapshot) map[model.ObjectKey]*networkingv1.VirtualService {
	objects := map[model.ObjectKey]*networkingv1.VirtualService{}
	for c := range snap.Configs(model.KindVirtualService) {
		if vs, ok := c.Object.(*networkingv1.VirtualService); ok {
			objects[c.Key] = vs
		}
	}
	return objects
}

// ForMesh tells whether what names these gateways, a VirtualService or a match of
// one, is for requests within the mesh, or for gateways only.
func ForMesh(gateways []string) bool {
	return len(gateways) == 0 || slices.Contains(gateways, meshGateway)
}

// destinationsOf lists the destinations of a VirtualService, those of delegates
// in the place of the routes that delegate to them.
func destinationsOf(key model.ObjectKey, objects map[model.ObjectKey]*networkingv1.VirtualService, mesh *state.Mesh) []destination {
	d := destinations{namespace: key.Namespace, domain: mesh.DomainSuffix}
	vs := &objects[key].Spec
	for _, h := range vs.GetHttp() {
		if h.GetDelegate() == nil {
			d.http(h)
			continue
		}
		to := key
		to.Name = h.GetDelegate().GetName()
		if ns := h.GetDelegate().GetNamespace(); ns != "" {
			to.Namespace = ns
		}
		delegate := objects[to]
		if delegate == nil || len(delegate.Spec.GetHosts()) > 0 || !VirtualServiceExports(mesh, delegate).visibleIn(key.Namespace) {
			continue
		}
		inner := destinations{namespace: to.Namespace, domain: mesh.DomainSuffix}
		for _, dh := range delegate.Spec.GetHttp() {
			inner.http(dh)
		}
		d.list = append(d.list, restrict(inner.list, httpSources(h))...)
	}
	// As in Istio, whence connections come is not looked at, unlike for requests.
	for _, t := range vs.GetTcp() {
		d.add(t.GetRoute())
	}
	for _, t := range vs.GetTls() {
		d.add(t.GetRoute())
	}
	return d.list
}

// restrict keeps what also requests from the given namespaces get.
func restrict(list []destination, from []string) []destination {
	if from == nil {
		return list
	}
	var out []destination
	for _, d := range list {
		if d.from == nil {
			d.from = from
		} else {
			d.from = slices.DeleteFunc(slices.Clone(d.from), func(ns string) bool { return !slices.Contains(from, ns) })
		}
		out = append(out, d)
	}
	return out
}

type destinations struct {
	namespace, domain string
	list              []destination
}

func (d *destinations) http(h *networking.HTTPRoute) {
	from := httpSources(h)
	for _, r := range h.GetRoute() {
		d.one(r.GetDestination(), from)
	}
	d.one(h.GetMirror(), from)
	for _, m := range h.GetMirrors() {
		d.one(m.GetDestination(), from)
	}
}

func (d *destinations) add(routes []*networking.RouteDestination) {
	for _, r := range routes {
		d.one(r.GetDestination(), nil)
	}
}

func (d *destinations) one(to *networking.Destination, from []string) {
	if to == nil {
		return
	}
	d.list = append(d.list, destination{host: Qualify(to.GetHost(), d.namespace, d.domain), port: to.GetPort().GetNumber(), from: from})
}

// httpSources lists the namespaces that a route's matches name; nil if they name
// none. As in Istio, a match that names none does not open the route to others
// again.
func httpSources(h *networking.HTTPRoute) []string {
	var out []string
	for _, m := range h.GetMatch() {
		if ns := m.GetSourceNamespace(); ns != "" {
			out = append(out, ns)
		}
	}
	return out
}

// from lists, by hostname, the destinations of requests from a namespace, with
// their ports; no ports means all.
func (r *route) from(namespace string) map[model.Hostname][]uint32 {
	out := map[model.Hostname][]uint32{}
	all := map[model.Hostname]bool{}
	for _, d := range r.destinations {
		if d.from != nil && !slices.Contains(d.from, namespace) {
			continue
		}
		all[d.host] = all[d.host] || d.port == 0
		out[d.host] = append(out[d.host], d.port)
	}
	for h := range all {
		if all[h] {
			out[h] = nil
		}
	}
	return out
}
