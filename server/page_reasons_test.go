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
	for q, want := range map[string][]string{
		"notready":     {"unhealthy: shop/web.shop.svc.cluster.local · 1 candidate"},
		"not ready":    {"unhealthy: shop/web.shop.svc.cluster.local · 1 candidate"},
		"pod-not-seen": {"pod-not-seen: shop/web.shop.svc.cluster.local · 1 candidate"},
		"exportTo":     {"services with exportTo: shop/own.shop.svc.cluster.local · its own namespace (.)"},
		"nodelocal":    {"reasons that no candidate has by itself: node-local"},
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
