package ads

import (
	"fmt"
	"strings"
	"testing"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"github.com/google/go-cmp/cmp"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
)

// head is the beginning of a VirtualService, and routed all of one.
const (
	head = `
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: s0, namespace: shop}
spec:
  hosts: [s0]
  http:
`
	routed = head + `
  - match:
    - {uri: {exact: /a.B/C}, headers: {user: {exact: me}, trace: {}}, withoutHeaders: {old: {prefix: x}}}
    - {uri: {regex: "/a.*"}, sourceLabels: {app: client}}
    - {uri: {prefix: /other}, sourceLabels: {app: other}}
    - {uri: {prefix: /port}, port: 81}
    - {uri: {prefix: /query}, queryParams: {q: {exact: x}}}
    - {uri: {prefix: /gateway}, gateways: [edge]}
    route: [{destination: {host: s0, subset: v2}}]
    timeout: 3s
  - match: [{uri: {prefix: /gone}, ignoreUriCase: true}]
    redirect: {uri: /}
  - route:
    - {destination: {host: s0, subset: v1}, weight: 90}
    - {destination: {host: s1.shop.svc.cluster.local, port: {number: 80}}, weight: 10}
    - {destination: {host: s0, subset: v3}, weight: 0}
`
)

// TestRoutesOfVirtualServices writes down what a gRPC client gets of a
// VirtualService: what it understands, for itself.
func TestRoutesOfVirtualServices(t *testing.T) {
	h := "s0.shop.svc.cluster.local"
	for _, c := range []struct{ name, yaml, want string }{
		{"none", "", "* -> outbound|80||" + h},
		{"all kinds", routed, strings.Join([]string{
			"=/a.B/C trace user !old -> outbound|80|v2|" + h + " in 3s",
			"~/a.* -> outbound|80|v2|" + h + " in 3s",
			"/gone* -> nowhere",
			"* -> 90 outbound|80|v1|" + h + ", 10 outbound|80||s1.shop.svc.cluster.local",
		}, "\n")},
		{
			"of a wildcard", strings.Replace(head, "[s0]", `["*.shop.svc.cluster.local"]`, 1) + "  - route: [{destination: {host: s1}}]\n",
			"* -> outbound|80||s1.shop.svc.cluster.local",
		},
		{"that delegates", head + "  - delegate: {name: other}\n", "* -> outbound|80||" + h},
		{"of another namespace's own", strings.Replace(routed, "namespace: shop}\nspec:", "namespace: bank}\nspec:\n  exportTo: [.]", 1), "* -> outbound|80||" + h},
		{"of gateways", strings.Replace(routed, "spec:", "spec:\n  gateways: [edge]", 1), "* -> outbound|80||" + h},
	} {
		t.Run(c.name, func(t *testing.T) {
			core := coretest.New(t)
			core.Apply(services(2) + "---" + c.yaml)
			snap := core.Snapshot()
			p := &model.Proxy{Type: model.Sidecar, Namespace: "shop", Labels: model.Labels{"app": "client"}}
			r := routesFor(place{scope: scope.For(snap, p), snap: snap}, p, cluster("s0"))
			if r == nil {
				t.Fatal("no routes")
			}
			if d := cmp.Diff(c.want, written(t, r)); d != "" {
				t.Error(d)
			}
		})
	}
}

// written writes routes down, one a line.
func written(t *testing.T, r *resource) string {
	t.Helper()
	cfg := &routev3.RouteConfiguration{}
	unpack(t, r, cfg)
	var out []string
	for _, one := range cfg.GetVirtualHosts()[0].GetRoutes() {
		m := one.GetMatch()
		text := m.GetPrefix() + "*"
		if m.GetPath() != "" {
			text = "=" + m.GetPath()
		} else if m.GetSafeRegex() != nil {
			text = "~" + m.GetSafeRegex().GetRegex()
		}
		for _, h := range m.GetHeaders() {
			text += " " + strings.Repeat("!", map[bool]int{true: 1}[h.GetInvertMatch()]) + h.GetName()
		}
		to := one.GetRoute()
		switch {
		case to == nil:
			text += " -> nowhere"
		case to.GetWeightedClusters() != nil:
			var parts []string
			for _, w := range to.GetWeightedClusters().GetClusters() {
				parts = append(parts, fmt.Sprint(w.GetWeight().GetValue(), " ", w.GetName()))
			}
			text += " -> " + strings.Join(parts, ", ")
		default:
			text += " -> " + to.GetCluster()
		}
		if d := to.GetMaxStreamDuration().GetMaxStreamDuration(); d != nil {
			text += " in " + d.AsDuration().String()
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}
