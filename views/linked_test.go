package views

import (
	"strings"
	"testing"
)

// FuzzSegments: whatever the sentence, its parts make it up.
func FuzzSegments(f *testing.F) {
	for text := range linkedSentences() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var b strings.Builder
		for _, s := range segments(text) {
			b.WriteString(s.text)
		}
		if b.String() != text {
			t.Errorf("%q became %q", text, b.String())
		}
	})
}

// linkedSentences gives, for sentences, the objects in them that lead somewhere.
func linkedSentences() map[string]string {
	return map[string]string{
		"": "",
		"EndpointSlice shop/cart-x7k2q offers 10.1.4.10, Service/shop/cart has none.": "/config/EndpointSlice/shop/cart-x7k2q /config/Service/shop/cart",
		"see Pod shop/web-0.":                            "/config/Pod/shop/web-0",
		"ConfigMap istio-system/istio and Secret shop/a": "",
		"Service shop/web.shop.svc.cluster.local:80":     "/config/Service/shop/web.shop.svc.cluster.local",
		"Pod <b>/x, pod shop/web, Pod shop":              "",
		"Service shop/web of cluster west: gone":         "/config/Service/shop/web?cluster=west",
		"it is Service shop/web of cluster eu-1.gke.":    "/config/Service/shop/web?cluster=eu-1.gke",
		"Service shop/web of clusters":                   "/config/Service/shop/web",
		"Pod/shop/a, Pod/shop/b":                         "/config/Pod/shop/a /config/Pod/shop/b",
	}
}

func TestSegments(t *testing.T) {
	for text, want := range linkedSentences() {
		var got []string
		for _, s := range segments(text) {
			if s.href != "" {
				got = append(got, s.href)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q leads to %v, not to %s", text, got, want)
		}
	}
}
