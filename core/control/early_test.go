package control_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/memory"
)

// unsynced passes on what changes, but not that all was said.
type unsynced struct{ *control.Controller }

func (unsynced) Synced() {}

// TestEarlyTurns has objects looked at, changed and deleted before the source is
// synced: nothing is published meanwhile, and the first state is that of the objects
// which there are then.
func TestEarlyTurns(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		core := coretest.New(t)
		early := control.New(control.Options{Source: core.Store})
		core.Store.Attach(unsynced{early})
		causes := map[string]bool{}
		for version := range rapid.IntRange(1, 20).Draw(r, "events") {
			core.Put(event(r, version))
			if rapid.Bool().Draw(r, "turn") {
				if tr := early.Flush(); tr != nil || early.Snapshot().Version != 0 {
					r.Fatalf("published before the source is synced: %+v", tr)
				}
			}
		}
		early.Synced()
		first := early.Flush()
		for i := range first.Causes {
			causes[first.Causes[i].Key.String()] = true
		}
		for key := range core.Store.All() {
			if !causes[key.String()] {
				r.Errorf("%s is no cause of the first state", key)
			}
		}
		living, fresh := coretest.Dump(early.Snapshot()), coretest.Dump(core.Rebuilt().Snapshot())
		if living != fresh {
			r.Errorf("the first state differs from the rebuilt one:\n%s", cmp.Diff(strings.Split(fresh, "\n"), strings.Split(living, "\n")))
		}
	})
}

// counting counts how often objects are asked for.
type counting struct {
	*memory.Store
	asked map[string]int
}

func (c *counting) Get(key model.ObjectKey) source.Object {
	c.asked[key.Name]++
	return c.Store.Get(key)
}

// TestEarlyObjectsAreLookedUpOnce has objects looked up before the source is synced, one
// of which changes: the first state asks for this one again, and for the one that is new.
func TestEarlyObjectsAreLookedUpOnce(t *testing.T) {
	store := &counting{Store: memory.New("test", time.Now), asked: map[string]int{}}
	key := func(name string) model.ObjectKey {
		return model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindNamespace, Name: name}
	}
	early := control.New(control.Options{Source: store})
	add := func(names ...string) {
		for _, name := range names {
			early.Dirty(source.Cause{Key: key(name), Op: source.OpAdd})
		}
	}
	add("a", "b", "b", "c")
	early.Flush()
	add("b", "b", "d")
	early.Synced()
	tr := early.Flush()
	if want := map[string]int{"a": 1, "b": 2, "c": 1, "d": 1}; !maps.Equal(store.asked, want) {
		t.Errorf("asked for %v, want %v", store.asked, want)
	}
	var merged []int
	for i := range tr.Causes {
		merged = append(merged, tr.Causes[i].Merged)
	}
	if want := []int{1, 4, 1, 1}; !slices.Equal(merged, want) {
		t.Errorf("the causes of the first state merge %v changes, want %v", merged, want)
	}
}
