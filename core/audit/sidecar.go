package audit

import (
	"fmt"
	"slices"
	"strings"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
)

// sidecars finds those that apply to nothing, and egress hosts that import
// nothing.
func sidecars(h *hosts, p *proxies) []Problem {
	var out []Problem
	general := map[string]string{} // the name of the one for its whole namespace
	for _, c := range configs[*networkingv1.Sidecar](h.snap, model.KindSidecar) {
		out = append(out, egressHosts(h, c.key, c.object.Spec.GetEgress())...)
		ns, selector := c.key.Namespace, c.object.Spec.GetWorkloadSelector()
		want := model.Labels(selector.GetLabels())
		switch {
		case selector == nil && general[ns] == "":
			general[ns] = c.key.Name
		case selector == nil:
			out = append(out, Problem{
				Object: c.key, Field: "spec", Message: "Sidecar " + general[ns] + " is for the whole namespace, too, and older, so this one applies to nothing",
				Remedy: "delete one of the two, or give this one a workloadSelector",
			})
		case !selectsAny(want, p.sidecars[ns]):
			out = append(out, Problem{
				Object: c.key, Field: "spec.workloadSelector.labels",
				Message: "no Pod with a sidecar in namespace " + ns + " has " + labelText(want) + ", so this Sidecar applies to nothing",
				Remedy:  "compare the selector with the labels of the Pods in this namespace",
			})
		}
	}
	return out
}

func egressHosts(h *hosts, key model.ObjectKey, listeners []*networking.IstioEgressListener) []Problem {
	var out []Problem
	for i, l := range listeners {
		for j, host := range l.GetHosts() {
			if message := h.unimported(host, key.Namespace); message != "" {
				out = append(out, Problem{
					Object: key, Field: fmt.Sprintf("spec.egress[%d].hosts[%d]", i, j), Message: message,
					Remedy: "write namespace/hostname with the full name, as in shop/web.shop.svc.cluster.local",
				})
			}
		}
	}
	return out
}

// unimported says why an egress host imports nothing; "" if it imports something,
// or if it is meant to import nothing, or all there is.
func (h *hosts) unimported(host, own string) string {
	ns, name, _ := strings.Cut(host, "/")
	switch {
	case strings.Count(host, "/") != 1:
		return host + " is not of the form namespace/hostname, and so imports nothing"
	case ns == "~" || name == "*":
		return ""
	case ns == ".":
		ns = own
	}
	pattern := model.Hostname(name)
	if ns == "*" && (h.defined(pattern) || h.routed(pattern, "")) || h.definedIn(pattern, ns) || h.routed(pattern, ns) {
		return ""
	}
	if ns == "*" {
		return "no service has the hostname " + name + ", so nothing is imported"
	}
	return "no service in namespace " + ns + " has the hostname " + name + ", so nothing is imported"
}

// definedIn is defined for the services of one namespace.
func (h *hosts) definedIn(host model.Hostname, namespace string) bool {
	for svc := range h.snap.ServicesOf(host) {
		if svc.Definition() != nil && svc.Key.Namespace == namespace {
			return true
		}
	}
	if !strings.HasPrefix(string(host), "*") {
		return false
	}
	for svc := range h.snap.Services() {
		if svc.Definition() != nil && svc.Key.Namespace == namespace && scope.Covers(host, svc.Key.Hostname) {
			return true
		}
	}
	return false
}

// routed tells whether a VirtualService has the hostname, of one namespace unless
// that is "".
func (h *hosts) routed(host model.Hostname, namespace string) bool {
	for c := range h.snap.Configs(model.KindVirtualService) {
		vs, ok := c.Object.(*networkingv1.VirtualService)
		if ok && (namespace == "" || c.Key.Namespace == namespace) && slices.ContainsFunc(vs.Spec.GetHosts(), func(text string) bool {
			return scope.Overlaps(scope.Qualify(text, c.Key.Namespace, h.snap.Mesh.DomainSuffix), host)
		}) {
			return true
		}
	}
	return false
}
