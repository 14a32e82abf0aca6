package ads

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/scope"
)

// TestCatalogFromBefore: a catalog made from an earlier one is the same as one made
// from nothing, whatever changed.
func TestCatalogFromBefore(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	c := coretest.New(t)
	c.Apply(`apiVersion: v1
kind: Pod
metadata: {name: client, namespace: shop, labels: {app: client, security.istio.io/tlsMode: istio}}
spec: {containers: [{name: istio-proxy}]}
status: {podIP: 10.9.9.9, phase: Running}
`)
	h := &hub{}
	var at place
	key := audienceKey{}
	taken := 0
	for step := range 400 {
		c.Apply(catalogChange(r))
		snap := c.Snapshot()
		p := snap.Proxy("client.shop")
		if p == nil {
			t.Fatal("no proxy")
		}
		sc := scope.For(snap, p)
		key.Audience = cds.NewAudiences(sc).Of(p)
		got, want := h.catalog(sc, snap, p, key, at), (&hub{}).catalog(sc, snap, p, key, place{})
		if d := got.compare(want); len(d.changed)+len(d.removed) > 0 || len(got.entries) != len(want.entries) {
			t.Fatalf("step %d: %d entries instead of %d, %d differ", step, len(got.entries), len(want.entries), len(d.changed)+len(d.removed))
		}
		for i, e := range got.entries {
			w := want.entries[i]
			if e.service != w.service || (e.endpoints == nil) != (w.endpoints == nil) || (e.endpoints != nil && e.endpoints.view != w.endpoints.view) {
				t.Fatalf("step %d: %s differs", step, e.cluster.name)
			}
		}
		if at.audience != nil && at.audience.key == key {
			if changed, ok := sc.Changed(at.scope); ok && len(changed) < len(sc.Imports) {
				taken++
			}
		}
		at = place{audience: &audience{key: key}, scope: sc, snap: snap}
		at.audience.built.Store(got)
	}
	if taken < 100 {
		t.Errorf("only %d of 400 catalogs took something over", taken)
	}
}

// catalogChange is a random change of something that clusters depend on.
func catalogChange(r *rand.Rand) string {
	n := r.IntN(5)
	object := func(version, kind, namespace, name, spec string) string {
		yaml := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s, namespace: %s}\n", version, kind, name, namespace)
		if r.IntN(4) == 0 {
			return "$op: delete\n" + yaml
		}
		return yaml + spec
	}
	ns := []string{"shop", "other"}[r.IntN(2)]
	name := fmt.Sprintf("s%d", n)
	const networking = "networking.istio.io/v1"
	switch r.IntN(11) {
	case 0, 1:
		return object("v1", "Service", ns, name, fmt.Sprintf("spec: {clusterIP: 10.1.0.%d, ports: [{name: http, port: %d}]}\n", n+1, 80+r.IntN(2)))
	case 2:
		return object("discovery.k8s.io/v1", "EndpointSlice", ns, name, fmt.Sprintf(
			"addressType: IPv4\nports: [{name: http, port: 8080}]\nendpoints: [{addresses: [10.2.0.%d]}]\n", r.IntN(9)))
	case 3:
		return object(networking, "DestinationRule", ns, name, fmt.Sprintf(
			"spec: {host: %s.%s.svc.cluster.local, subsets: [{name: v%d, labels: {version: v1}}]}\n", name, []string{"shop", "other"}[r.IntN(2)], r.IntN(2)))
	case 4:
		return object(networking, "DestinationRule", ns, "wide", "spec: {host: \"*.local\", trafficPolicy: {outlierDetection: {}}}\n")
	case 5:
		return object(networking, "ServiceEntry", ns, name, fmt.Sprintf(
			"spec: {hosts: [%s.example.com], resolution: %s, ports: [{number: 80, name: http, protocol: HTTP}], endpoints: [{address: 10.3.0.%d}]}\n",
			name, []string{"STATIC", "DNS", "NONE"}[r.IntN(3)], r.IntN(9)))
	case 9:
		return object(networking, "ServiceEntry", "shop", "selecting", "spec: {hosts: [w.example.com], resolution: DNS, workloadSelector: {labels: {app: w}},"+
			" ports: [{number: 80, name: http, protocol: HTTP}]}\n")
	case 10:
		return object(networking, "WorkloadEntry", "shop", name, fmt.Sprintf("spec: {address: w%d.example.com, labels: {app: w}}\n", r.IntN(3)))
	case 6:
		return object(networking, "Sidecar", "shop", "default", fmt.Sprintf("spec: {egress: [{hosts: [\"%s/*\"]}]}\n", []string{"*", ".", "other"}[r.IntN(3)]))
	case 7:
		return object("security.istio.io/v1", "PeerAuthentication", ns, "default", fmt.Sprintf(
			"spec: {mtls: {mode: %s}}\n", []string{"STRICT", "DISABLE"}[r.IntN(2)]))
	}
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: istio, namespace: istio-system}\n" +
		fmt.Sprintf("data: {mesh: \"serviceSettings: [{settings: {clusterLocal: %t}, hosts: [s1.shop.svc.cluster.local]}]\"}\n", r.IntN(2) == 0)
}

// TestOldCatalogsAreLetGo: of many pushes the last clusters are held, and not those
// of the pushes before.
func TestOldCatalogsAreLetGo(t *testing.T) {
	h := start(t, services(2))
	c := h.connect("client-0.shop", "s0")
	var all []weak.Pointer[catalog]
	for i := range 20 {
		h.put(strings.Replace(rule, "7", fmt.Sprint(10+i), 1))
		c.ack(c.expect("+" + cluster("s0"))) // the cluster
		c.ack(c.expect("+" + cluster("s0"))) // its endpoints
		h.server.hub.mu.Lock()
		for _, a := range h.server.hub.audiences {
			all = append(all, weak.Make(a.built.Load()))
		}
		h.server.hub.mu.Unlock()
	}
	h.eventually("old clusters are let go", func() bool {
		runtime.GC()
		held := 0
		for _, one := range all {
			if one.Value() != nil {
				held++
			}
		}
		return held <= 2
	})
}
