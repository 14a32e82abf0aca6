package ads

import (
	"flag"
	"runtime"
	"testing"
	"time"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/test/chaos"
)

var (
	chaosFor     = flag.Duration("chaos", 2*time.Second, "how long TestChaos disturbs")
	chaosClients = flag.Int("chaos-clients", 24, "clients of TestChaos")
	chaosSeed    = flag.Uint64("chaos-seed", 1, "seed of TestChaos")
)

// TestChaos changes everything at random, while clients come and go, refuse, and
// stop to read. At the end every client has what a core has that starts anew on
// the same objects, and no goroutine is left over.
func TestChaos(t *testing.T) {
	before := runtime.NumGoroutine()
	h := start(t, "")
	chaos.Run(t, chaos.Mesh{
		Core: h.core, Dial: h.dial, Put: h.put, Fresh: h.fresh, Patience: time.Minute,
	}, chaos.Options{For: *chaosFor, Clients: *chaosClients, Seed: *chaosSeed})
	h.stop()
	h.server.running.Wait()
	h.eventually("no goroutine is left", func() bool { return runtime.NumGoroutine() <= before+2 })
}

// fresh compiles the objects from scratch.
func (h *harness) fresh(pins []registry.Pinned) *state.Snapshot {
	h.t.Helper()
	core := control.New(control.Options{Source: h.store})
	h.store.Attach(core)
	for _, p := range pins {
		core.Connect(p)
	}
	core.Flush()
	h.store.Attach(h.core)
	return core.Snapshot()
}
