package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/edsight/edsight/core/model"
)

// setReady makes the first endpoint of the payments ready or not.
func (m *mesh) setReady(yes bool) {
	s := m.slice("shop", "payments", "grpc", 3)
	s.Endpoints[0].Conditions = discoveryv1.EndpointConditions{Ready: new(yes), Serving: new(yes), Terminating: new(false)}
	m.put(model.KindEndpointSlice, s)
}

func rows(n int) string {
	return fmt.Sprintf(`document.querySelectorAll('[data-testid="transition"]').length === %d`, n)
}

// TestLiveFeed causes a transition while somebody looks, and follows it from the
// feed to its page.
func TestLiveFeed(t *testing.T) {
	s := newSite(t)
	b := s.open(t, looks()[0])
	b.logIn()
	b.until(`document.querySelector('[data-ws="live"]')`)
	s.setReady(false)
	b.until(rows(2))
	first := b.text(id("feed") + ` tbody tr:first-child`)
	for _, want := range []string{"shop/payments", "payments-x7k2q", "~1", "incremental", podIP("payments", 0) + " healthy → unhealthy"} {
		if !strings.Contains(first, want) {
			t.Errorf("the new row %q does not say %q", first, want)
		}
	}
	if v := b.text(id("version")); v != "2" {
		t.Errorf("the header shows state %s, not 2", v)
	}
	b.until(`document.querySelector('[data-testid="station-push"] .value').textContent === "2"`)
	b.do(chromedp.Click(id("feed")+` tbody tr:first-child th a`), chromedp.WaitVisible(id("endpoint-change")))
	if got := b.text(id("endpoint-change")); !strings.Contains(got, "healthy") || !strings.Contains(got, "unhealthy") {
		t.Errorf("the transition shows %q", got)
	}
	b.noErrors()
}

// TestLivePause holds the feed, counts what comes, and goes on.
func TestLivePause(t *testing.T) {
	s := newSite(t)
	b := s.open(t, looks()[0])
	b.logIn()
	b.until(`document.querySelector('[data-ws="live"]')`)
	b.do(chromedp.Click(id("pause")))
	s.setReady(false)
	b.until(`document.querySelector('[data-testid="new"]').textContent === "1 new"`)
	s.setReady(true)
	b.until(`document.querySelector('[data-testid="new"]').textContent === "2 new"`)
	if !eval[bool](b, rows(1)) {
		t.Error("a paused feed moved")
	}
	b.do(chromedp.Click(id("pause")))
	b.until(rows(3))
	if !eval[bool](b, `document.querySelector('[data-testid="new"]').hidden`) {
		t.Error("following, the feed still counts new rows")
	}
	b.noErrors()
}

// TestLiveFilter keeps what does not match out of the feed, and the filter in
// the address of the page.
func TestLiveFilter(t *testing.T) {
	s := newSite(t)
	b := s.open(t, looks()[0])
	b.logIn()
	b.visit("/?service=web")
	b.until(`document.querySelector('[data-ws="live"]')`)
	s.setReady(false)
	if err := s.core.Journal().Wait(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	slice := s.slice("shop", "web", "http", 4)
	s.put(model.KindEndpointSlice, slice)
	b.until(rows(2))
	if text := b.text(id("feed")); strings.Contains(text, "payments-x7k2q") {
		t.Errorf("the feed of web shows %q", text)
	}
	b.noErrors()
}

// TestNewerState tells on a page of one moment that there is a newer one, and moves
// nothing.
func TestNewerState(t *testing.T) {
	s := newSite(t)
	b := s.open(t, looks()[0])
	b.logIn()
	b.visit("/services/shop/payments.shop.svc.cluster.local")
	b.until(`document.querySelector('[data-ws="live"]')`)
	const header = `document.querySelector(".top").offsetHeight`
	before := eval[int](b, header)
	s.setReady(false)
	b.until(`document.querySelector('[data-testid="newer-state"]').textContent === "load 1 newer"`)
	if after := eval[int](b, header); after != before {
		t.Errorf("the header grows from %d to %d px under the cursor", before, after)
	}
	b.do(chromedp.Click(id("newer-state")), chromedp.WaitNotVisible(id("newer-state")))
	b.until(`document.querySelector('[data-testid="verdict"]').textContent.includes("2 of 3 endpoints are ready")`)
	b.noErrors()
}

// TestTroubleArrives shows on a live page what is wrong with the source and what was
// mended, and tells on the page of problems that they have changed.
func TestTroubleArrives(t *testing.T) {
	s := newSite(t)
	b := s.open(t, looks()[0])
	b.logIn()
	b.until(`document.querySelector('[data-ws="live"]')`)
	s.trouble.mend("mesh/cart.yaml:3")
	b.until(`document.querySelector('[data-testid="trouble-strip"]').textContent.includes("mesh/cart.yaml:3")`)
	if text := b.text(id("trouble-strip")); !strings.Contains(text, "✓ mended") || !strings.Contains(text, "mesh/web.yaml:17") {
		t.Errorf("the strip says %q", text)
	}
	b.visit("/config")
	b.until(`document.querySelector('[data-ws="live"]')`)
	s.trouble.mend("mesh/pay.yaml:9")
	b.until(`document.querySelector('[data-testid="newer-state"]').textContent.includes("problems changed")`)
	b.do(chromedp.Click(id("newer-state")), chromedp.WaitNotVisible(id("newer-state")))
	if text := b.text(id("problems")); !strings.Contains(text, "mesh/pay.yaml:9") {
		t.Errorf("the problems are %q", text)
	}
	b.noErrors()
}

// TestSuggestions offers proxies and hosts while somebody asks for an explanation.
func TestSuggestions(t *testing.T) {
	s := newSite(t)
	b := s.open(t, looks()[0])
	b.logIn()
	b.visit("/explain")
	for field, want := range map[string]string{"proxy": "web-7d4b9c-0.shop", "host": "web.shop.svc.cluster.local"} {
		b.do(chromedp.Click(`main [name="`+field+`"]`), chromedp.KeyEvent("web"))
		b.until(`[...document.querySelector('main [name="` + field + `"]').list.options].some((o) => o.value === "` + want + `")`)
	}
	b.noErrors()
}

// TestKeyboard walks through the dashboard without a mouse.
func TestKeyboard(t *testing.T) {
	s := newSite(t)
	b := s.open(t, looks()[0])
	b.logIn()
	b.do(chromedp.KeyEvent("?"), chromedp.WaitVisible("#help"))
	b.do(chromedp.KeyEvent("\x1b"), chromedp.WaitNotVisible("#help"))
	b.do(chromedp.KeyEvent("/"))
	b.until(`document.activeElement.matches("[data-search]")`)
	b.do(chromedp.KeyEvent("payments-7d4b9c\r"), chromedp.WaitVisible(id("hits")))
	if hits := b.text(id("hits")); !strings.Contains(hits, "payments-7d4b9c-2") {
		t.Errorf("the search for the pods of payments finds %q", hits)
	}
	b.do(chromedp.KeyEvent("j"))
	b.until(`document.activeElement.closest('[data-testid="hits"]')`)
	b.do(chromedp.KeyEvent("g"), chromedp.KeyEvent("s"), chromedp.WaitVisible(id("services")))
	b.do(chromedp.KeyEvent("j"))
	b.until(`document.activeElement.closest('[data-testid="service"]')`)
	b.do(chromedp.KeyEvent("\r"), chromedp.WaitVisible(id("verdict")))
	b.do(chromedp.KeyEvent("g"), chromedp.KeyEvent("p"), chromedp.WaitVisible(id("proxies")))
	b.do(chromedp.KeyEvent("g"), chromedp.KeyEvent("l"), chromedp.WaitVisible(id("feed")))
	b.noErrors()
}

// TestLogOut ends the feed as well as the session.
func TestLogOut(t *testing.T) {
	s := newSite(t)
	b := s.open(t, looks()[0])
	b.logIn()
	b.do(chromedp.Click(id("logout")), chromedp.WaitVisible(id("login")))
	b.visit("/services")
	b.do(chromedp.WaitVisible(id("login")))
	if got := eval[bool](b, `document.querySelector('[data-testid="services"]') === null`); !got {
		t.Error("services are shown after the logout")
	}
}
