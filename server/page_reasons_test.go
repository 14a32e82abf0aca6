package server

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/edsight/edsight/views"
)

// TestSearchReasons finds, by the name of a reason however it is written, what has
// it.
func TestSearchReasons(t *testing.T) {
	v := newVisitor(t)
	v.core.Apply("apiVersion: v1\nkind: Service\nmetadata: {name: own, namespace: shop, annotations: {networking.istio.io/exportTo: .}}\nspec: {clusterIP: 10.96.0.12, ports: [{name: http, port: 80}]}\n")
	v.core.Apply("apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {name: none, namespace: shop}\nspec: {hosts: [none.example.com], resolution: NONE, ports: [{name: http, number: 80}], workloadSelector: {labels: {app: web}}}\n")
	for q, want := range map[string][]string{
		"notready":     {"unhealthy: shop/web.shop.svc.cluster.local · 1 candidate"},
		"not ready":    {"unhealthy: shop/web.shop.svc.cluster.local · 1 candidate"},
		"pod-not-seen": {"pod-not-seen: shop/web.shop.svc.cluster.local · 1 candidate"},
		"exportTo":     {"services with exportTo: shop/own.shop.svc.cluster.local · its own namespace (.)"},
		"nodelocal":    {"reasons that depend on the proxy: node-local"},
		"draining":     {"reasons that no candidate has now: draining"},
		"port-name":    {"port-name-mismatch: shop/cart.shop.svc.cluster.local · 1 candidate", "what is wrong with slices: port name of no service port · EndpointSlice/shop/cart-abc12"},
		"subset":       {"subset-labels: shop/web.shop.svc.cluster.local · subset v2 matches no endpoint"},
		"resolution":   {"resolution-none: shop/none.example.com · "},
		"waiting":      {"pages: Waiting room"},
		"held back":    {"pages: Services with candidates held back"},
		"V1":           {"addresses and workloads: 10.1.0.1 · Pod/shop/web-1"},
		"pod":          {},
	} {
		m := twinOf[views.Search](v, "/search?q="+url.QueryEscape(q))
		var got []string
		for _, h := range m.Hits {
			kind, _, _ := strings.Cut(h.Kind, ":")
			for _, l := range h.Links {
				got = append(got, kind+": "+l.Text)
			}
		}
		for _, w := range want {
			if !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, w) }) {
				t.Errorf("%s finds %q, not %q", q, got, w)
			}
		}
		if len(want) == 0 && slices.ContainsFunc(got, func(g string) bool { return strings.Contains(g, "pod-") }) {
			t.Errorf("%s finds the reasons %q", q, got)
		}
	}
}

// TestSearchForWhatIsGone leads to the transition with which it went.
func TestSearchForWhatIsGone(t *testing.T) {
	v := newVisitor(t)
	if m := twinOf[views.Search](v, "/search?q=web-1.shop"); len(m.Hits) == 0 || m.Gone != "" {
		t.Fatalf("the proxy is not there: %+v", m)
	}
	v.core.Apply(strings.Replace(podShop, "apiVersion", "$op: delete\napiVersion", 1))
	for _, q := range []string{"web-1.shop", "shop/web-1.gone"} {
		m := twinOf[views.Search](v, "/search?q="+q)
		if is := strings.HasPrefix(m.Gone, "“web-1.shop” is not there any more; it went at "); is != (q == "web-1.shop") || is != (len(m.Then) == 1) {
			t.Errorf("%s: %q %v", q, m.Gone, m.Then)
		}
	}
}
