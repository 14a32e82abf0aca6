package server

import (
	"net/url"
	"testing"
)

// TestNextSteps leads from what is not there to a search for its name.
func TestNextSteps(t *testing.T) {
	for path, want := range map[string]string{
		"/proxies/web-0.shop":         "/search?q=web-0.shop",
		"/proxies/web-0.shop/compare": "/search?q=web-0.shop",
		"/services/shop/a b":          "/search?q=a+b",
		"/nothing":                    "/",
	} {
		if got := nextSteps(&url.URL{Path: path})[0].Href; got != want {
			t.Errorf("from %s the first step is %s, want %s", path, got, want)
		}
	}
}
