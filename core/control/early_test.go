package control_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/coretest"
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
