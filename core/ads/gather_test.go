package ads

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/source/memory"
	"github.com/edsight/edsight/core/state"
)

func TestChangesGather(t *testing.T) {
	full := journal.Push{Scope: state.FullScope()}
	for _, c := range []struct {
		name           string
		quiet, most    time.Duration
		every          time.Duration
		changes        int
		push           journal.Push
		least, longest time.Duration
	}{
		{"at once", 0, 0, time.Millisecond, 100, full, 0, 0},
		{"until it is quiet", 100 * time.Millisecond, 10 * time.Second, 50 * time.Millisecond, 10, full, 550 * time.Millisecond, 650 * time.Millisecond},
		{"but not for ever", 100 * time.Millisecond, time.Second, 50 * time.Millisecond, 1000, full, time.Second, 1100 * time.Millisecond},
		{"single proxies count", 100 * time.Millisecond, time.Second, 50 * time.Millisecond, 1000, journal.Push{Proxies: []string{"a.b"}}, time.Second, 1100 * time.Millisecond},
		{"what causes no message does not", 100 * time.Millisecond, time.Second, 50 * time.Millisecond, 1000, journal.Push{}, 100 * time.Millisecond, 100 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				core := control.New(control.Options{Source: memory.New("test", time.Now)})
				s := New(core, Options{Quiet: c.quiet, MostWait: c.most})
				done := make(chan struct{})
				go func() {
					defer close(done)
					for range c.changes {
						<-time.After(c.every)
						core.Journal().Append(&journal.Transition{Push: c.push})
					}
				}()
				start := time.Now()
				s.gather(t.Context())
				if took := time.Since(start); took < c.least || took > c.longest {
					t.Errorf("waited for %s", took)
				}
				<-done
			})
		})
	}
}

// TestGatheringKeepsUp has changes that never pause, many more than one wait brings
// together: what came when a wait ends is published.
func TestGatheringKeepsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := coretest.New(t)
		s := New(core, Options{Quiet: 100 * time.Millisecond, MostWait: time.Second})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		core.Apply(services(1))
		for i := range 1500 {
			<-time.After(time.Millisecond)
			core.Apply(slice("s0", fmt.Sprintf("10.0.%d.%d", i/250, i%250)))
		}
		<-time.After(200 * time.Millisecond)
		s.hub.mu.Lock()
		told := s.hub.recent.newest
		s.hub.mu.Unlock()
		if want := core.Snapshot().Version; told != want {
			t.Errorf("version %d is published, want %d", told, want)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
