package compare_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/compare"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/scope"
)

// changes are what happens between the two snapshots.
func changes() map[string]string {
	return map[string]string{
		"nothing":       pod("web", "web", 3),
		"an endpoint":   slice(0, 1, 2, 3),
		"none":          slice(),
		"a rule":        "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: web, namespace: shop}\nspec: {host: web, subsets: [{name: v1, labels: {version: v1}}]}\n",
		"a sidecar":     "apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: {name: default, namespace: shop}\nspec: {egress: [{hosts: [\"other/*\"]}]}\n",
		"a service":     "apiVersion: v1\nkind: Service\nmetadata: {name: api, namespace: shop}\nspec: {clusterIP: 10.96.0.2, ports: [{name: http, port: 80}]}\n",
		"a proxy":       pod("late", "late", 1),
		"a proxy moves": "apiVersion: v1\nkind: Pod\nmetadata: {name: client-0, namespace: shop, labels: {app: client, version: v1, security.istio.io/tlsMode: istio}}\nspec: {nodeName: node-2, containers: [{name: istio-proxy}]}\nstatus: {phase: Running, podIP: 10.0.6.0, conditions: [{type: Ready, status: \"True\"}]}\n",
		"the mesh":      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: istio, namespace: istio-system}\ndata: {mesh: \"localityLbSetting: {distribute: [{from: r1/a/*, to: {r1/b/*: 100}}]}\"}\n",
	}
}

// TestProxiesEqualsComparingEach holds what is shared and passed over against
// comparing whole views one by one.
func TestProxiesEqualsComparingEach(t *testing.T) {
	for name, yaml := range changes() {
		t.Run(name, func(t *testing.T) {
			c := newShop(t)
			before := sideOf(c)
			c.Apply(yaml)
			after := sideOf(c)
			changed := map[model.ServiceKey]bool{}
			for _, s := range registry.Between(before.Snap, after.Snap).Services {
				changed[s.Key] = true
			}
			got := map[string]string{}
			for p := range compare.Proxies(before, after, changed) {
				got[p.ID] = fmt.Sprintf("%t %t %d %+v", p.Here != nil, p.There != nil, p.Clusters, p.Counts)
			}
			want := map[string]string{}
			for p := range after.Snap.Proxies() {
				was := before.Snap.Proxy(p.ID)
				if was == nil {
					want[p.ID] = "false true 0 {OnlyHere:0 OnlyThere:0 Changed:0}"
					continue
				}
				if d := compare.Sets(compare.Of(cds.Build(before.Snap, was)), compare.Of(cds.Build(after.Snap, p))); !d.Empty() {
					want[p.ID] = fmt.Sprintf("true true %d %+v", len(d.Clusters), d.Counts)
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if (len(got) == 0) != (name == "nothing") {
				t.Errorf("%d proxies differ", len(got))
			}
		})
	}
}

// TestBothDifferAsEachAlone: leaving out what is made of the same changes nothing.
func TestBothDifferAsEachAlone(t *testing.T) {
	snap := newShop(t).Snapshot()
	side := compare.Side{Snap: snap, Scopes: &scope.Cache{}}
	for p := range snap.Proxies() {
		for q := range snap.Proxies() {
			a, b := compare.Both(side, side, p, q)
			if diff := cmp.Diff(compare.Sets(side.Set(p), side.Set(q)), compare.Sets(a, b)); diff != "" {
				t.Errorf("%s and %s: %s", p.ID, q.ID, diff)
			}
		}
	}
}
