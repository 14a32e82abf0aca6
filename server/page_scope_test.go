package server

import (
	"strings"
	"testing"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/views"
)

// scopes has a host that two namespaces define, a Sidecar that leaves most out,
// and a proxy of a third namespace.
const scopes = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: one, namespace: shop, creationTimestamp: "2024-01-01T00:00:00Z"}
spec: {hosts: [api.example.com], resolution: STATIC, ports: [{name: http, number: 80, protocol: HTTP}], endpoints: [{address: 1.1.1.1}]}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: two, namespace: bank, creationTimestamp: "2024-02-01T00:00:00Z"}
spec: {hosts: [api.example.com], resolution: STATIC, ports: [{name: http, number: 80, protocol: HTTP}], endpoints: [{address: 2.2.2.2}]}
---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: default, namespace: ops}
spec: {egress: [{hosts: ["shop/web.shop.svc.cluster.local"]}]}
---
apiVersion: v1
kind: Pod
metadata: {name: teller, namespace: bank}
spec: {containers: [{name: app}, {name: istio-proxy}]}
status: {phase: Running, podIP: 10.2.0.1, podIPs: [{ip: 10.2.0.1}]}
---
apiVersion: v1
kind: Pod
metadata: {name: probe, namespace: ops}
spec: {containers: [{name: app}, {name: istio-proxy}]}
status: {phase: Running, podIP: 10.2.0.2, podIPs: [{ip: 10.2.0.2}]}
`

// TestScope says which Sidecar decides what a proxy sees, what brought each host
// in, and why the rest is left out.
func TestScope(t *testing.T) {
	v := newVisitor(t)
	v.core.Apply(scopes)
	page := v.html(views.ProxyURL("probe.ops"))
	got, _, _ := strings.Cut(v.part(page, "scope"), "</section>")
	for _, want := range []string{"/config/Sidecar/ops/default", "1 service", ">shop</a>", "3 definitions it does not use"} {
		if !strings.Contains(got, want) {
			t.Errorf("the scope is %q without %q", got, want)
		}
	}
	if got := v.part(page, "clusters"); !strings.Contains(got, "through") || !strings.Contains(got, "Sidecar/ops/default") {
		t.Errorf("the clusters do not say what brought them in: %q", got)
	}
	excluded := v.html(views.ExcludedURL("probe.ops"))
	if n := strings.Count(excluded, `data-testid="excluded-not-imported"`); n != 3 || strings.Contains(excluded, `data-testid="clusters"`) {
		t.Errorf("%d definitions are not imported, not 3", n)
	}
	found := v.html(views.ExcludedURL("probe.ops") + "&q=bank")
	if n := strings.Count(found, `data-testid="excluded-not-imported"`); n != 1 || !strings.Contains(v.part(found, "excluded-count"), "1 of 3") {
		t.Errorf("the search finds %d definitions, not 1", n)
	}
	own := v.html(views.ProxyURL("teller.bank"))
	if !strings.Contains(v.part(own, "why-this"), "own namespace") {
		t.Error("the row of the cluster does not say why this definition")
	}
	lost := v.html(views.ExcludedURL("teller.bank"))
	if got := v.part(lost, "excluded-other-namespace-won"); !strings.Contains(got, "ServiceEntry/bank/two") {
		t.Errorf("what is used in the place of the other is not named: %q", got)
	}
}

// TestUsers says for each proxy which definition of a host it uses.
func TestUsers(t *testing.T) {
	v := newVisitor(t)
	v.core.Apply(scopes)
	page := v.html(views.ServiceURL(model.ServiceKey{Hostname: "api.example.com", Namespace: "shop"}))
	for testid, want := range map[string][]string{
		"users-own-namespace": {"sidecars of shop", "ServiceEntry/shop/one"},
		"users-not-imported":  {"sidecars of ops", "○ nothing", "Sidecar/ops/default"},
	} {
		row, _, _ := strings.Cut(v.part(page, testid), "</tr>")
		for _, w := range want {
			if !strings.Contains(row, w) {
				t.Errorf("%s is %q without %q", testid, row, w)
			}
		}
	}
	if !strings.Contains(page, "◐ another:") || strings.Index(page, "ServiceEntry/bank/two") < strings.Index(page, "ServiceEntry/shop/one") {
		t.Error("who uses the other definition is not said after those that use this one")
	}
}
