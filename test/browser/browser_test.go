package browser

import (
	"context"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/server"
)

var (
	chromium = flag.String("chromium", "/usr/bin/chromium", "the browser")
	shots    = flag.String("shots", "", "folder for screenshots of all pages")
)

// site is a whole Edsight over the small mesh.
type site struct {
	*mesh
	core *control.Controller
	// trouble is what is wrong with the source.
	trouble *troubled
	http    *httptest.Server
	app     *server.Server
	// crowd is who is connected, nobody at first.
	crowd crowd
}

// troubled adds problems to what the source says of itself.
type troubled struct {
	*control.Controller
	mu       sync.Mutex // protects all below
	problems []source.Problem
	mended   []source.Problem
}

func newTroubled(c *control.Controller) *troubled {
	return &troubled{Controller: c, problems: []source.Problem{{
		Where: "mesh/web.yaml:17", Field: "spec.subsets[0].labels", Message: "cannot be read: " + hostile, Since: time.Now(),
	}}}
}

// mend ends all problems; another comes in their place.
func (t *troubled) mend(another string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mended = slices.Clone(t.problems)
	for i := range t.mended {
		t.mended[i].Until = time.Now()
	}
	t.problems = []source.Problem{{Where: another, Message: "is no object", Since: time.Now()}}
}

func (t *troubled) Status() control.Status {
	s := t.Controller.Status()
	t.mu.Lock()
	defer t.mu.Unlock()
	s.Source.Problems, s.Source.Mended = t.problems, t.mended
	return s
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{mesh: newMesh(t)}
	s.core = control.New(control.Options{Source: s.store})
	s.trouble = newTroubled(s.core)
	s.app = server.New(s.trouble, server.Options{Version: "test", Proxies: &s.crowd, Objects: s.store})
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

// look is how somebody looks at a page.
type look struct {
	name  string
	width int64
	dark  bool
}

func looks() []look {
	return []look{
		{"laptop-light", 1280, false},
		{"laptop-dark", 1280, true},
		{"tablet-light", 768, false},
		{"phone-light", 390, false},
		{"phone-dark", 390, true},
	}
}

// tab is a page of a browser of its own, with what went wrong in it.
type tab struct {
	t    *testing.T
	ctx  context.Context
	site *site

	mu     sync.Mutex // protects errors
	errors []string
}

func (s *site) open(t *testing.T, l look) *tab {
	t.Helper()
	options := append(
		chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(*chromium), chromedp.UserDataDir(t.TempDir()),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-quic", true), chromedp.NoFirstRun,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.WSURLReadTimeout(time.Minute),
	)
	alloc, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(func() {
		cancel()
		stop()
	})
	b := &tab{t: t, ctx: ctx, site: s}
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatal(err)
	}
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	b.do(chromedp.EmulateViewport(l.width, 844))
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	return b
}

// note keeps errors of the console, exceptions and refused loads.
func (b *tab) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.errors = append(b.errors, e.ExceptionDetails.Text+" "+e.ExceptionDetails.URL)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			b.errors = append(b.errors, fmt.Sprintf("console: %v", e.Args))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			b.errors = append(b.errors, e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

// patience is how long one action may take.
const patience = 20 * time.Second

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// get runs an action that has a value.
func get[T any](b *tab, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, action)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

func (b *tab) logIn() {
	b.t.Helper()
	b.do(chromedp.Navigate(b.site.http.URL+b.site.app.LoginPath()), chromedp.WaitVisible(id("feed")))
}

func (b *tab) visit(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.site.http.URL+path), chromedp.WaitReady("main"))
}

// noErrors fails the test if anything went wrong since the last call.
func (b *tab) noErrors() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.errors {
		b.t.Errorf("the browser says: %s", e)
	}
	b.errors = nil
}

// shoot writes a screenshot of the whole page, if screenshots are wanted.
func (b *tab) shoot(name string) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	png := get(b, chromedp.FullScreenshot(100))
	if err := os.MkdirAll(*shots, 0o750); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), png, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *tab) text(sel string) string {
	b.t.Helper()
	return strings.TrimSpace(get(b, chromedp.Text(sel)))
}

// eval is the value of an expression in the page; a promise is waited for.
func eval[T any](b *tab, js string) T {
	b.t.Helper()
	return get(b, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
}

// until waits until the expression is true in the page.
func (b *tab) until(js string) {
	b.t.Helper()
	get(b, chromedp.Poll[any](js, chromedp.WithPollingTimeout(10*time.Second)))
}

// id selects by data-testid.
func id(name string) string { return `[data-testid="` + name + `"]` }
