package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// looker is the program with somebody who looks at the live page in a real
// browser: a step is done when the page shows the row of its transition.
type looker struct {
	*program
	tab  context.Context
	seen int // newest transition that was on the page
}

// look opens a browser and logs in as a person would who has the token.
func look(t *testing.T, p *program) *looker {
	t.Helper()
	options := append(
		chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("/usr/bin/chromium"), chromedp.UserDataDir(t.TempDir()),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.WSURLReadTimeout(time.Minute),
	)
	alloc, stop := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	tab, cancel := chromedp.NewContext(alloc)
	t.Cleanup(func() {
		cancel()
		stop()
	})
	l := &looker{program: p, tab: tab}
	if err := chromedp.Do(tab, chromedp.Navigate(p.url+"/login"), chromedp.SendKeys(`input[name="token"]`, token+"\r"), chromedp.WaitVisible(`[data-testid="feed"]`)); err != nil {
		t.Fatalf("log in: %v", err)
	}
	return l
}

// until waits as the program does, and then until the page shows the newest
// transition; it must show all that came since the last time, too.
func (l *looker) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	l.program.until(t, what, ok)
	var journal struct{ Next int }
	l.get(t, "/api/v1/transitions?since=1&limit=1000", &journal)
	newest := journal.Next - 1
	ctx, cancel := context.WithTimeout(l.tab, patience)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.WaitVisible(fmt.Sprintf(`tr[data-testid="transition"][data-seq="%d"]`, newest))); err != nil {
		t.Fatalf("%s: the page does not show transition %d: %v", what, newest, err)
	}
	shown, err := chromedp.Run(ctx, chromedp.Evaluate[[]int](`[...document.querySelectorAll("tr[data-seq]")].map((row) => Number(row.dataset.seq))`))
	if err != nil {
		t.Fatal(err)
	}
	for seq := l.seen + 1; seq <= newest; seq++ {
		if !slices.Contains(shown, seq) {
			t.Errorf("%s: the page shows %v, and not transition %d", what, shown, seq)
		}
	}
	l.seen = newest
}

func TestPageShowsEachTransition(t *testing.T) {
	t.Parallel()
	k := newShop(t)
	l := look(t, serve(t, k))
	walk(t, k, l)
	runWeb(k, 1, 0)
	settle(t, k, l, map[int]int{healthy: 1})
	if l.seen < replicas {
		t.Errorf("the page showed %d transitions, want more", l.seen)
	}
}
