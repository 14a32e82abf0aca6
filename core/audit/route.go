package audit

import (
	"fmt"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
)

// virtualServices finds destinations that no service has.
func virtualServices(h *hosts) []Problem {
	var out []Problem
	for c := range h.snap.Configs(model.KindVirtualService) {
		vs, ok := c.Object.(*networkingv1.VirtualService)
		if !ok {
			continue // not of a version that is read
		}
		for _, d := range destinations(&vs.Spec) {
			host := scope.Qualify(d.to.GetHost(), c.Key.Namespace, h.snap.Mesh.DomainSuffix)
			if d.to == nil || h.defined(host) {
				continue // it leads somewhere
			}
			out = append(out, Problem{
				Object: c.Key, Field: d.field + ".host",
				Message: "no service has the hostname " + string(host) + ", so requests that are sent there fail",
				Remedy:  "write the full name: a short one is completed with the VirtualService's own namespace",
			})
		}
	}
	return out
}

// destination is a place that requests are sent to, and the field that names it.
type destination struct {
	field string
	to    *networking.Destination
}

func destinations(vs *networking.VirtualService) []destination {
	var out []destination
	for i, h := range vs.GetHttp() {
		at := fmt.Sprintf("spec.http[%d]", i)
		for j, r := range h.GetRoute() {
			out = append(out, destination{fmt.Sprintf("%s.route[%d].destination", at, j), r.GetDestination()})
		}
		if h.GetMirror() != nil {
			out = append(out, destination{at + ".mirror", h.GetMirror()})
		}
		for j, m := range h.GetMirrors() {
			out = append(out, destination{fmt.Sprintf("%s.mirrors[%d].destination", at, j), m.GetDestination()})
		}
	}
	for i, t := range vs.GetTcp() {
		out = append(out, routeDestinations(fmt.Sprintf("spec.tcp[%d]", i), t.GetRoute())...)
	}
	for i, t := range vs.GetTls() {
		out = append(out, routeDestinations(fmt.Sprintf("spec.tls[%d]", i), t.GetRoute())...)
	}
	return out
}

func routeDestinations(at string, routes []*networking.RouteDestination) []destination {
	out := make([]destination, 0, len(routes))
	for i, r := range routes {
		out = append(out, destination{fmt.Sprintf("%s.route[%d].destination", at, i), r.GetDestination()})
	}
	return out
}
