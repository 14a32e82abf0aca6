package demo

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/memory"
)

// Options of the demo.
type Options struct {
	// Speed is how many times faster than usual things happen; 1 if not positive.
	Speed float64
	// Seed decides what happens.
	Seed int64
	// Now is the clock; time.Now if nil.
	Now func() time.Time
	// Logger is told of problems; silent if nil.
	Logger *slog.Logger
}

// age is how old the mesh is at the start.
const age = 3 * time.Hour

// Demo is a mesh that moves by itself. One goroutine at a time, first that of New,
// then that of Run, changes it.
type Demo struct {
	speed     float64
	now       func() time.Time
	log       *slog.Logger
	rng       *rand.Rand
	store     *memory.Store
	cluster   *cluster
	workloads map[string]*workload
	sliced    []*sliced
	lastHost  map[string]int // of the address last given, by Node
	plan      plan
	deck      []scene

	mu       sync.Mutex // protects problems
	problems []source.Problem
}

// New returns the mesh as it is before anything has happened.
func New(o Options) (*Demo, error) {
	if o.Speed <= 0 {
		o.Speed = 1
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	d := &Demo{
		speed: o.Speed, now: o.Now, log: o.Logger,
		rng:       rand.New(rand.NewPCG(uint64(o.Seed), 0)), //nolint:gosec // the same seed gives the same mesh
		store:     memory.New("demo mesh", o.Now),
		workloads: map[string]*workload{}, lastHost: map[string]int{},
	}
	born := d.now().Add(-age)
	d.cluster = newCluster(d.store, func() time.Time { return born }, d.rng)
	if err := d.build(); err != nil {
		return nil, fmt.Errorf("build the demo mesh: %w", err)
	}
	d.cluster.now = d.now
	d.plan.after(firstScene, d.nextScene)
	return d, nil
}

// Run implements source.Source.
func (d *Demo) Run(ctx context.Context, sink source.Sink) error {
	d.store.Attach(sink)
	for {
		wait, do := d.plan.next()
		timer := time.NewTimer(time.Duration(float64(wait) / d.speed))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
			do()
		}
	}
}

// Get implements source.Source.
func (d *Demo) Get(key model.ObjectKey) source.Object { return d.store.Get(key) }

// All implements source.Source.
func (d *Demo) All() iter.Seq2[model.ObjectKey, source.Object] { return d.store.All() }

// Status implements source.Source.
func (d *Demo) Status() source.Status {
	st := d.store.Status()
	d.mu.Lock()
	defer d.mu.Unlock()
	st.Problems = append(st.Problems, d.problems...)
	return st
}

// maxProblems is how many failures are kept.
const maxProblems = 10

// fail keeps an error for Status. None is expected.
func (d *Demo) fail(key model.ObjectKey, err error) {
	d.log.Error("the demo mesh failed", "object", key.String(), "error", err)
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.problems) < maxProblems {
		d.problems = append(d.problems, source.Problem{Object: key, Message: err.Error(), Since: d.now()})
	}
}

// between draws a time.
func (d *Demo) between(low, high time.Duration) time.Duration {
	return low + time.Duration(d.rng.Int64N(int64(high-low)))
}
