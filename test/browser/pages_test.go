package browser

import (
	"net/url"
	"os"
	"testing"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/views"
)

// pages are all pages of the dashboard, with what each must show.
func pages() []struct{ name, path, want string } {
	web := views.ServiceURL(model.ServiceKey{Hostname: "web.shop.svc.cluster.local", Namespace: "shop"})
	bad := views.ServiceURL(model.ServiceKey{Hostname: hostile + ".shop.svc.cluster.local", Namespace: "shop"})
	proxy := views.ProxyURL("web-7d4b9c-0.shop")
	opened := func(c string) string { return proxy + "?cluster=" + url.QueryEscape(c) }
	return []struct{ name, path, want string }{
		{"live", "/", "feed"},
		{"live-filtered", "/?namespace=shop&push=full", "clear-filter"},
		{"wrong", "/wrong", "problems"},
		{"transition", "/transitions/1", "decision"},
		{"services", "/services", "services"},
		{"services-none", "/services?q=nothing-like-that", "empty"},
		{"service-web", web, "matrix"},
		{"service-ports", views.ServiceURL(model.ServiceKey{Hostname: "cart.shop.svc.cluster.local", Namespace: "shop"}), "stray-port"},
		{"service-empty", views.ServiceURL(model.ServiceKey{Hostname: "lost.shop.svc.cluster.local", Namespace: "shop"}), "empty"},
		{"service-undefined", views.ServiceURL(model.ServiceKey{Hostname: "orphan.shop.svc.cluster.local", Namespace: "shop"}), "empty"},
		{"service-hostile", bad, "matrix"},
		{"proxies", "/proxies", "proxies"},
		{"proxy", proxy, "clusters"},
		{"proxy-cluster", opened("outbound|80||web.shop.svc.cluster.local"), "sent"},
		{"proxy-subset", opened("outbound|80|v3|web.shop.svc.cluster.local"), "left-out"},
		{"proxy-excluded", views.ExcludedURL("mailer-7d4b9c-0.ops"), "excluded-not-imported"},
		{"explain", "/explain?proxy=web-7d4b9c-0.shop&host=cart.shop.svc.cluster.local&port=80", "sentence"},
		{"search", "/search?q=payments", "hits"},
		{"waiting", "/waiting", "waiting"},
		{"pushes", "/pushes", "push-counts"},
		{"slices", "/slices", "slices-count"},
		{"clusters", "/clusters", "mesh-clusters"},
		{"config", "/config", "problems"},
		{"object", "/config/DestinationRule/shop/web", "object-yaml"},
		{"snapshots", "/snapshots", "export"},
		{"not-found", "/services/shop/gone.example.com", "next-steps"},
	}
}

// TestPages looks at every page in every way: it must show what it is for,
// without errors of the console, without a violation of accessibility, and
// within the width of the screen.
func TestPages(t *testing.T) {
	axe := readAxe(t)
	s := newSite(t)
	for _, l := range looks() {
		t.Run(l.name, func(t *testing.T) {
			b := s.open(t, l)
			b.visit("/login")
			b.check(axe, "login", l)
			b.logIn()
			for _, p := range pages() {
				b.visit(p.path)
				if eval[int](b, "document.querySelectorAll('"+id(p.want)+"').length") == 0 {
					t.Errorf("%s does not show %s", p.path, p.want)
				}
				b.check(axe, p.name, l)
			}
		})
	}
}

func readAxe(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("axe-core is missing; run npm ci in test/browser: %v", err)
	}
	return string(text)
}

// check holds for every page.
func (b *tab) check(axe, name string, l look) {
	b.t.Helper()
	b.shoot(name + "-" + l.name)
	violations := eval[[]string](b, axe+`;axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.flatMap((v) =>
		v.nodes.map((n) => v.id + ": " + n.html.slice(0, 200) + " " + n.failureSummary)))`)
	for _, v := range violations {
		b.t.Errorf("%s, %s: %s", name, l.name, v)
	}
	wide := eval[[]string](b, `[...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() &&
		e.getBoundingClientRect().right > innerWidth + 1 && !e.closest("pre, nav, .quiet, thead, .rows .id"))
		.map((e) => e.outerHTML.slice(0, 120)).slice(0, 3)`)
	for _, w := range wide {
		b.t.Errorf("%s, %s: wider than the screen: %s", name, l.name, w)
	}
	if over := eval[int](b, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
		b.t.Errorf("%s, %s: the page scrolls sideways by %d", name, l.name, over)
	}
	if eval[bool](b, "'owned' in window") {
		b.t.Errorf("%s: a name of the mesh ran as a script", name)
	}
	b.noErrors404(name)
}

// noErrors404 is noErrors, but for the one line by which the browser tells of a
// page that is meant to be missing.
func (b *tab) noErrors404(name string) {
	b.t.Helper()
	if name == "not-found" {
		b.mu.Lock()
		b.errors = nil
		b.mu.Unlock()
	}
	b.noErrors()
}
