package browser

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/edsight/edsight/core/archive"
)

// TestGuideSnapshot answers what changed since a state was exported, in sight without
// scrolling, and makes the guide's screenshot of it.
func TestGuideSnapshot(t *testing.T) {
	s := demoSite(t)
	before := export(t, s.core.Snapshot())
	for seq := s.core.Journal().Last() + 1; ; seq++ {
		if err := s.core.Journal().Wait(t.Context(), seq); err != nil {
			t.Fatal(err)
		}
		if endpointsChanged(s, seq) {
			break
		}
	}
	b := s.open(t, look{"laptop", 1280, false})
	b.do(chromedp.EmulateViewport(1280, 800))
	b.visit("/login")
	b.logIn()
	b.openSnapshot("this-morning"+archive.Extension, before)
	if !eval[bool](b, `(() => { const e = document.querySelector('`+id("service-change")+`'); return e !== null && e.getBoundingClientRect().top < innerHeight - 40 })()`) {
		t.Error("the services that differ are not in sight")
	}
	b.do(chromedp.Click(id("proxy-diff")+" a"), chromedp.WaitVisible(id("compared-cluster")))
	b.do(chromedp.NavigateBack(), chromedp.WaitVisible(id("proxy-diff")))
	b.noErrors()
	if *guide == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*guide, "snapshots.png"), get(b, chromedp.CaptureScreenshot()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// endpointsChanged tells whether some proxy got or lost an endpoint by a transition.
func endpointsChanged(s *site, seq uint64) bool {
	for _, c := range s.core.Journal().Get(seq).Diff.Services {
		for _, e := range c.Endpoints {
			if kind := e.Kind(); kind == "added" || kind == "removed" {
				return true
			}
		}
	}
	return false
}
