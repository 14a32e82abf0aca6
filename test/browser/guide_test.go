package browser

import (
	"context"
	"flag"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source/demo"
	"github.com/edsight/edsight/server"
	"github.com/edsight/edsight/views"
)

var guide = flag.String("guide", "", "folder for the screenshots of the user guide")

// demoSite is a whole Edsight over the demo mesh, which stands still but for what
// it does in the time of the test.
func demoSite(t *testing.T) *site {
	t.Helper()
	src, err := demo.New(demo.Options{Speed: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{core: control.New(control.Options{Source: src})}
	s.app = server.New(s.core, server.Options{Version: "demo", Objects: src})
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(done)
		if err := s.core.Run(ctx); err != nil {
			t.Errorf("core: %v", err)
		}
	}()
	s.http = httptest.NewServer(s.app.Handler())
	t.Cleanup(func() {
		s.http.Close()
		cancel()
		<-done
	})
	if err := s.core.Journal().Wait(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	return s
}

// proxyOf is the first proxy whose name begins so.
func (s *site) proxyOf(t *testing.T, prefix string) string {
	t.Helper()
	for p := range s.core.Snapshot().Proxies() {
		if strings.HasPrefix(p.ID, prefix) {
			return p.ID
		}
	}
	t.Fatalf("the demo has no proxy %s", prefix)
	return ""
}

// addressOf is the address of a Pod of a service whose name has the part.
func (s *site) addressOf(t *testing.T, host, pod string) string {
	t.Helper()
	for svc := range s.core.Snapshot().ServicesOf(model.Hostname(host)) {
		for _, c := range svc.Candidates() {
			if c.Target != nil && strings.Contains(c.Target.Name, pod) {
				return c.Address
			}
		}
	}
	t.Fatalf("%s has no address of a Pod %s", host, pod)
	return ""
}

const (
	billing = "billing.shop.svc.cluster.local"
	catalog = "catalog.shop.svc.cluster.local"
	bank    = "api.bank.example"
)

// TestGuide answers each question of the user guide with one page, whose answer is
// in sight without scrolling on a laptop, and makes the guide's screenshots.
func TestGuide(t *testing.T) {
	s := demoSite(t)
	frontend := s.proxyOf(t, "frontend-")
	service := func(host string) string {
		return views.ServiceURL(model.ServiceKey{Hostname: model.Hostname(host), Namespace: "shop"})
	}
	hotfix := s.addressOf(t, catalog, "catalog-v2")
	b := s.open(t, look{"laptop", 1280, false})
	b.do(chromedp.EmulateViewport(1280, 800))
	b.visit("/login")
	b.logIn()
	for _, p := range []struct{ name, path, answer string }{
		{"why", views.ExplainURL(frontend, billing, 80, "", ""), "step-failed"},
		{"trace", views.TraceURL(hotfix), "holders"},
		{"waiting-room", "/waiting", "no-orphans"},
		{"slices", service(catalog), "slice"},
		{"winner", service(bank), "other-definitions"},
		{"matrix", service(catalog), "matrix"},
		{"priorities", views.ProxyURL(frontend) + "?cluster=outbound%7C80%7C%7C" + catalog, "locality"},
		{"search", "/search?q=billing", "hits"},
		{"compare", views.CompareURL(frontend) + "?with=" + s.proxyOf(t, "gateway-"), "compared"},
	} {
		t.Run(p.name, func(t *testing.T) {
			b.t = t
			b.visit(p.path)
			if !eval[bool](b, `(() => { const e = document.querySelector('`+id(p.answer)+`'); return e !== null && e.getBoundingClientRect().top < innerHeight - 40 })()`) {
				t.Errorf("%s: %s is not in sight", p.path, p.answer)
			}
			b.noErrors()
			if *guide == "" {
				return
			}
			png := get(b, chromedp.CaptureScreenshot())
			if err := os.WriteFile(filepath.Join(*guide, p.name+".png"), png, 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestStrangersPath goes from the first page of the demo to the cause of a broken
// endpoint: in three clicks.
func TestStrangersPath(t *testing.T) {
	s := demoSite(t)
	b := s.open(t, look{"laptop", 1280, false})
	b.visit("/login")
	b.logIn()
	service := `a[href="` + views.ServiceURL(model.ServiceKey{Hostname: billing, Namespace: "shop"}) + `"]`
	cell := id("verdict-cell") + " a"
	b.do(chromedp.Click(`a[href="/services"]`), chromedp.WaitVisible(id("services")))
	b.do(chromedp.Click(service), chromedp.WaitVisible(cell))
	b.do(chromedp.Click(cell), chromedp.WaitVisible(id("sentence")))
	if got := b.text(id("sentence")); !strings.Contains(got, `named "http-web"`) || !strings.Contains(got, `port name "http"`) {
		t.Errorf("after three clicks the page says %q", got)
	}
}

// TestStrangersBadge goes from the first page by the badge: one click says what is wrong
// with everything that is broken in the demo, another what is wanted and what is there.
func TestStrangersBadge(t *testing.T) {
	s := demoSite(t)
	b := s.open(t, look{"laptop", 1280, false})
	b.visit("/login")
	b.logIn()
	b.do(chromedp.Click("#trouble-badge"), chromedp.WaitVisible(id("problems")))
	page := b.text("main")
	for _, want := range []string{
		`the slice's port is called "http", those of the Service "http-web"`,
		"has version=v2-hotfix",
		"comes close: it has app=review (wanted app=reviews)",
		"the resolution is NONE, so the workloads that are selected are no endpoints for sidecars",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("after one click the page does not say %q", want)
		}
	}
	for host, want := range map[string]string{
		billing: `the port name "http", and the service has "http-web"`,
		catalog: "has version=v2-hotfix",
	} {
		b.visit("/wrong")
		b.do(chromedp.Click(`a[href="`+views.ServiceURL(model.ServiceKey{Hostname: model.Hostname(host), Namespace: "shop"})+`"]`), chromedp.WaitVisible(id("verdict")))
		if got := b.text(id("verdict")); !strings.Contains(got, want) {
			t.Errorf("after two clicks the page says %q", got)
		}
	}
	b.noErrors()
}
