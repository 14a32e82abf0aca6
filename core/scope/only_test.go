package scope_test

import (
	"testing"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// hostsMesh has hostnames with several definitions, seen through Sidecars, a
// VirtualService and exportTo.
const hostsMesh = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: a}
spec: {ports: [{name: http, port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: db, namespace: b, annotations: {networking.istio.io/exportTo: "."}}
spec: {ports: [{name: tcp, port: 90}]}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: web, namespace: b}
spec: {hosts: [web.a.svc.cluster.local, api.example.com], ports: [{name: http, number: 81, protocol: HTTP}], resolution: DNS}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: api, namespace: c}
spec: {hosts: [api.example.com], ports: [{name: tls, number: 443, protocol: TLS}], resolution: DNS}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: api, namespace: c}
spec: {hosts: [api.example.com], http: [{route: [{destination: {host: web.a.svc.cluster.local, port: {number: 80}}}]}]}
---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: default, namespace: c}
spec: {egress: [{hosts: ["./*"]}, {port: {number: 81, name: x, protocol: HTTP}, hosts: ["b/*"]}]}
---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: picky, namespace: b}
spec: {workloadSelector: {labels: {app: picky}}, egress: [{hosts: ["a/*"]}]}
`

// TestImportIsThatOfTheScope holds the answer about one hostname against the
// whole scope, for every kind of proxy and every hostname.
func TestImportIsThatOfTheScope(t *testing.T) {
	core := coretest.New(t)
	core.Apply(hostsMesh)
	for _, ns := range []string{"a", "b", "c", "d"} {
		for _, labels := range []string{"{app: plain}", "{app: picky}"} {
			core.Apply("apiVersion: v1\nkind: Pod\nmetadata: {name: p" + labels[6:8] + ", namespace: " + ns + ", labels: " + labels + "}\n" +
				"spec: {containers: [{name: istio-proxy}]}\nstatus: {phase: Running, podIP: 10.0.0.1, podIPs: [{ip: 10.0.0.1}]}\n")
		}
	}
	var cache scope.Cache
	snap := core.Snapshot()
	if snap.ProxyCount() != 8 {
		t.Fatalf("%d proxies, not 8", snap.ProxyCount())
	}
	found := 0
	for p := range snap.Proxies() {
		whole := scope.For(snap, p)
		if k := cache.KeyOf(snap, p); k != whole.Key {
			t.Errorf("%s has key %v, not %v", p.ID, k, whole.Key)
		}
		for svc := range snap.Services() {
			found += compareImport(t, &cache, snap, whole, svc)
		}
	}
	if found == 0 {
		t.Error("no proxy uses any of the services")
	}
}

func compareImport(t *testing.T, cache *scope.Cache, snap *state.Snapshot, whole *scope.Scope, svc *state.ServiceState) int {
	t.Helper()
	host := svc.Key.Hostname
	got, want := cache.Import(snap, whole.Key, host), whole.Import(host)
	switch {
	case got == nil && want == nil:
		return 0
	case got == nil || want == nil:
		t.Errorf("%v: %s is %v, not %v", whole.Key, host, got, want)
	case got.Definition.Key != want.Definition.Key || got.Why != want.Why || got.Via != want.Via || len(got.Definition.Ports) != len(want.Definition.Ports):
		t.Errorf("%v: %s is %v %s, not %v %s", whole.Key, host, got.Definition.Key, got.Why, want.Definition.Key, want.Why)
	}
	return 1
}
