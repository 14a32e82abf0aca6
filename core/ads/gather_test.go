package ads

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/source/memory"
)

func TestChangesGather(t *testing.T) {
	for _, c := range []struct {
		name           string
		quiet, most    time.Duration
		every          time.Duration
		changes        int
		least, longest time.Duration
	}{
		{"at once", 0, 0, time.Millisecond, 100, 0, 0},
		{"until it is quiet", 100 * time.Millisecond, 10 * time.Second, 50 * time.Millisecond, 10, 550 * time.Millisecond, 650 * time.Millisecond},
		{"but not for ever", 100 * time.Millisecond, time.Second, 50 * time.Millisecond, 1000, time.Second, 1100 * time.Millisecond},
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
						core.Journal().Append(&journal.Transition{})
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
