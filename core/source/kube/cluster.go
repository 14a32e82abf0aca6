package kube

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
)

// Options of a Cluster or a Mesh. The zero value is a default installation.
type Options struct {
	ID            model.ClusterID // of the config cluster; default "Kubernetes"
	RootNamespace string          // default "istio-system"
	// RemoteTimeout is how long a Mesh waits for a remote cluster before it goes on
	// with what it has; default 30 s.
	RemoteTimeout time.Duration
	Logger        *slog.Logger // default: nothing is logged
	Now           func() time.Time
}

func (o Options) withDefaults() Options {
	if o.ID == "" {
		o.ID = "Kubernetes"
	}
	if o.RootNamespace == "" {
		o.RootNamespace = "istio-system"
	}
	if o.RemoteTimeout == 0 {
		o.RemoteTimeout = 30 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// The values of syncStatus.
const (
	syncing  = "syncing"
	synced   = "synced"
	timedOut = "timeout"
	closed   = "closed"
)

// Cluster is the source of one cluster's objects.
type Cluster struct {
	id    model.ClusterID
	name  string
	log   *slog.Logger
	now   func() time.Time
	link  *link
	kinds map[model.Kind]*kind
	// replaces is the connection whose place this one is to take, if any: what
	// that one may read must be read before this one is synced.
	replaces *Cluster

	sync      atomic.Pointer[string] // the syncStatus
	unchanged atomic.Uint64
}

// New returns the source of the cluster that cfg connects to, without remote
// ones. Nothing is sent before Run.
func New(cfg *rest.Config, o Options) (*Cluster, error) {
	o = o.withDefaults()
	clients, err := connect(cfg, o.ID)
	if err != nil {
		return nil, err
	}
	c := newCluster(clients, o)
	c.addConfigKinds(clients, o.RootNamespace)
	return c, nil
}

// newCluster returns a cluster of which the kinds are read that count wherever
// they are.
func newCluster(clients *clients, o Options) *Cluster {
	c := &Cluster{
		id: o.ID, name: "kubernetes " + clients.host, now: o.Now,
		log:   o.Logger.With("cluster", string(o.ID)),
		kinds: map[model.Kind]*kind{},
	}
	c.link = newLink(clients.core.Discovery(), c.log, o.Now)
	c.setSync(syncing)
	c.addKinds(clients)
	return c
}

// Run implements source.Source. It returns when ctx is done.
func (c *Cluster) Run(ctx context.Context, sink source.Sink) error {
	defer c.setSync(closed)
	ctx = logr.NewContext(ctx, logr.FromSlogHandler(c.log.Handler()))
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	settled := make([]<-chan struct{}, 0, len(c.kinds))
	for _, k := range c.kinds {
		told, err := c.attach(ctx, k, sink)
		if err != nil {
			return fmt.Errorf("cluster %s: %s: %w", c.id, k.kind, err)
		}
		settled = append(settled, k.settled(ctx, told.HasSyncedChecker().Done(), c.mayLack(k.kind)))
		running.Go(func() { k.informer.RunWithContext(ctx) })
	}
	running.Go(func() { c.link.run(ctx, c.kinds) })

	for _, done := range settled {
		select {
		case <-done:
		case <-ctx.Done():
			return nil
		}
	}
	c.setSync(synced)
	c.log.Info("cluster synced")
	sink.Synced()
	<-ctx.Done()
	return nil
}

// mayLack tells whether the cluster may be synced without the right to read a
// kind.
func (c *Cluster) mayLack(kind model.Kind) bool {
	if c.replaces == nil {
		return true
	}
	k, ok := c.replaces.kinds[kind]
	return !ok || k.isRefusedNow()
}

// Get implements source.Source.
func (c *Cluster) Get(key model.ObjectKey) source.Object {
	k, ok := c.kinds[key.Kind]
	if !ok || k.changed != nil || key.Cluster != c.id {
		return nil
	}
	return k.get(key)
}

// All implements source.Source.
func (c *Cluster) All() iter.Seq2[model.ObjectKey, source.Object] {
	return func(yield func(model.ObjectKey, source.Object) bool) {
		for _, k := range c.kinds {
			if k.changed != nil {
				continue // its objects are not for others
			}
			for _, o := range k.informer.GetStore().List() {
				obj, ok := o.(source.Object)
				if ok && !yield(c.key(k, obj), obj) {
					return
				}
			}
		}
	}
}

// Status implements source.Source.
func (c *Cluster) Status() source.Status {
	cs := source.ClusterStatus{ID: c.id, Sync: *c.sync.Load()}
	cs.Connected, cs.LastEvent, cs.Error = c.link.status()
	return source.Status{Name: c.name, Clusters: []source.ClusterStatus{cs}, Problems: c.problems()}
}

// Unchanged counts the updates of Pods, Nodes and Namespaces that changed
// nothing which Edsight reads, and which the sink was therefore not told of.
func (c *Cluster) Unchanged() uint64 { return c.unchanged.Load() }

func (c *Cluster) setSync(s string) { c.sync.Store(&s) }

func (c *Cluster) key(k *kind, o source.Object) model.ObjectKey {
	return model.ObjectKey{Cluster: c.id, Kind: k.kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}
