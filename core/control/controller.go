package control

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
)

// Options are the settings of a Controller. Only Source is required.
type Options struct {
	Source source.Source
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// JournalSize is the number of transitions kept; 0 means 2,000.
	JournalSize int
	// Logger; nil discards.
	Logger *slog.Logger
	// ConfigCluster is the cluster whose Istio objects count; "" means "Kubernetes".
	ConfigCluster model.ClusterID
	// RootNamespace of the mesh; "" means "istio-system".
	RootNamespace string
	Features      registry.Features
	// Proxies that are known by more than their Pods.
	Proxies []registry.Pinned
	// Lookup of gateways that are names; nil looks nothing up.
	Lookup Lookup
}

// Controller is the one writer. Its methods may be called from any goroutine,
// but either Run or Flush turns it, never both.
type Controller struct {
	source source.Source
	now    func() time.Time
	log    *slog.Logger
	world  *registry.World
	lookup Lookup          // of gateways that are names; nil looks nothing up
	mesh   model.ObjectKey // the ConfigMap that configures it
	dirty  dirtySet

	snapshot atomic.Pointer[state.Snapshot]
	journal  *journal.Journal
}

// Status is what the writer says of itself.
type Status struct {
	// Ready is true once the first complete state is published.
	Ready bool `json:"ready"`
	// Waiting is the number of changed objects not yet looked at.
	Waiting int           `json:"waiting"`
	Source  source.Status `json:"source"`
}

// New returns a Controller with an empty snapshot.
func New(o Options) *Controller {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.JournalSize == 0 {
		o.JournalSize = 2000
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.ConfigCluster == "" {
		o.ConfigCluster = "Kubernetes"
	}
	if o.RootNamespace == "" {
		o.RootNamespace = "istio-system"
	}
	c := &Controller{
		source: o.Source, now: o.Now, log: o.Logger,
		world:   registry.NewWorld(o.ConfigCluster, o.RootNamespace, o.Features),
		mesh:    model.ObjectKey{Cluster: o.ConfigCluster, Kind: model.KindConfigMap, Namespace: o.RootNamespace, Name: "istio"},
		dirty:   dirtySet{known: map[model.ObjectKey]gathered{}, wake: make(chan struct{}, 1)},
		journal: journal.New(o.JournalSize),
	}
	if !o.Features.NoLookups {
		c.lookup = o.Lookup
	}
	for _, p := range o.Proxies {
		c.world.Pin(p)
	}
	c.snapshot.Store(state.Empty())
	return c
}

// Snapshot returns the newest published state; it is never nil.
func (c *Controller) Snapshot() *state.Snapshot { return c.snapshot.Load() }

// Journal returns the transitions.
func (c *Controller) Journal() *journal.Journal { return c.journal }

// Status returns the state of the writer and its source.
func (c *Controller) Status() Status {
	return Status{Ready: c.Snapshot().Version > 0, Waiting: c.dirty.len(), Source: c.source.Status()}
}

// Dirty implements source.Sink.
func (c *Controller) Dirty(causes ...source.Cause) { c.dirty.add(causes) }

// Synced implements source.Sink: from now on states are published.
func (c *Controller) Synced() { c.dirty.setSynced() }

// Run runs the source and turns the loop until ctx is done or the source fails.
func (c *Controller) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var (
		wg  sync.WaitGroup
		err error
	)
	wg.Go(func() {
		defer cancel()
		err = c.source.Run(ctx, c)
	})
	if c.lookup != nil {
		wg.Go(func() { c.renewNames(ctx) })
	}
	// 1. Objects changed, or the source has said all that exists: take a turn.
	// 2. The end.
	for ctx.Err() == nil {
		select {
		case <-c.dirty.wake:
			c.turn(ctx)
		case <-ctx.Done():
		}
	}
	wg.Wait()
	return err
}

// Flush takes one turn: everything that is dirty is looked at, and if the source
// is synced the result is published. It returns the transition, or nil if there
// was nothing to do or the source is not synced yet.
func (c *Controller) Flush() *journal.Transition { return c.turn(context.Background()) }

func (c *Controller) turn(ctx context.Context) *journal.Transition {
	todo, publish := c.dirty.drain()
	t := &journal.Transition{Causes: todo.causes, Prev: c.Snapshot()}
	t.Times.Drained = c.now()
	c.take(todo, t.Prev)
	if !publish {
		return nil
	}
	for i := range t.Causes {
		if seen := t.Causes[i].Seen; t.Times.Seen.IsZero() || seen.Before(t.Times.Seen) {
			t.Times.Seen = seen
		}
	}
	b := state.NewBuilder(t.Prev)
	t.Diff = c.world.Compile(b)
	if t.Diff.Networks && c.resolve(ctx, t.Prev, b) != nil {
		return nil // the end
	}
	t.Push = decide(t.Diff, t.Prev.Version == 0)
	if todo.again {
		t.Push.Scope, t.Push.Again, t.Push.Because = state.FullScope(), true, "it was asked for"
		t.Push.Triggers = append(t.Push.Triggers, "debug")
	}
	if t.Push.Scope.Type == state.PushFull {
		b.TouchConfig()
	}
	t.Times.Compiled = c.now()
	t.Next = b.Snapshot(t.Times.Compiled)
	t.Version = t.Next.Version
	c.snapshot.Store(t.Next)
	t.Times.Published = c.now()
	c.journal.Append(t)
	for _, p := range todo.pins {
		for _, done := range p.done {
			close(done)
		}
	}
	c.log.Debug("state published", "version", t.Version, "causes", len(t.Causes), "push", t.Push.Scope.Type.String())
	return t
}

// take brings the world up to date. A name that no gateway has any more is passed over.
func (c *Controller) take(todo turn, prev *state.Snapshot) {
	for key, p := range todo.pins {
		c.pin(key, p)
	}
	for name, addresses := range todo.names {
		if slices.ContainsFunc(prev.Gateways(), func(g state.Gateway) bool { return g.Addr == name }) {
			c.world.Resolve(name, addresses)
		}
	}
	for _, key := range todo.objects {
		c.world.Set(key, c.source.Get(key))
	}
}
