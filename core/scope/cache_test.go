package scope_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

func TestCacheShares(t *testing.T) {
	snap := snapshot(t, kube("web", "shop"), egress("sc", "client", 0, "*/*"))
	var c scope.Cache
	first := c.For(snap, client("client", "app", "a"))
	if c.For(snap, client("client", "app", "b")) != first {
		t.Error("two proxies of a namespace have a scope each")
	}
	if c.For(snap, client("other")) == first || c.For(snap, router("client")) == first {
		t.Error("proxies that differ share a scope")
	}

	b := state.NewBuilder(snap)
	endpoints := b.Snapshot(born(1))
	if c.For(endpoints, client("client")) != first {
		t.Error("a change of endpoints makes a new scope")
	}
	b = state.NewBuilder(endpoints)
	b.TouchConfig()
	b.SetService(model.ServiceKey{Hostname: "web.shop.svc.cluster.local", Namespace: "shop"}, nil)
	config := b.Snapshot(born(2))
	newest := c.For(config, client("client"))
	if newest == first || len(newest.Imports) != 0 {
		t.Error("a change of configuration leaves the scope")
	}
	if s := c.For(endpoints, client("client")); len(s.Imports) != 1 {
		t.Error("a reader of an older snapshot gets the newer scope")
	}
	if c.For(config, client("client")) != newest {
		t.Error("a late reader replaced the newer scopes")
	}
}

func TestCacheIsForMany(t *testing.T) {
	var snaps []*state.Snapshot
	snap := snapshot(t, kube("web", "shop"))
	for range 4 {
		snaps = append(snaps, snap)
		b := state.NewBuilder(snap)
		b.TouchConfig()
		snap = b.Snapshot(born(1))
	}
	var c scope.Cache
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			if s := c.For(snaps[i%4], client(fmt.Sprintf("ns-%d", i%8))); len(s.Imports) != 1 {
				t.Errorf("reader %d imports %s", i, imports(s))
			}
		})
	}
	wg.Wait()
}

func TestWhyHasWords(t *testing.T) {
	seen := map[string]bool{}
	for w := scope.WhyOnly; w.String() != "invalid"; w++ {
		text, err := w.MarshalText()
		if err != nil || string(text) != w.String() || w.Text() == "" || seen[w.String()] {
			t.Errorf("%d: %q %q %v", w, w, w.Text(), err)
		}
		seen[w.String()] = true
		if w.Used() != (w <= scope.WhyRoute) {
			t.Errorf("%v: used is %v", w, w.Used())
		}
	}
	if len(seen) != int(scope.WhyMerged)+1 {
		t.Errorf("%d reasons have a name", len(seen))
	}
}
