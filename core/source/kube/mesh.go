package kube

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
)

// Mesh is the source of the objects of several clusters: the config cluster, and
// those whose kubeconfigs are in its Secrets for remote clusters.
type Mesh struct {
	config  *Cluster
	options Options
	secrets *kind
	wake    chan struct{} // holds one while the Secrets have to be looked at

	mu       sync.RWMutex // protects all below
	remotes  map[model.ClusterID]*remote
	problems []source.Problem // of the Secrets
}

// NewMesh returns the source of the mesh whose config cluster cfg connects to.
// Nothing is sent before Run.
func NewMesh(cfg *rest.Config, o Options) (*Mesh, error) {
	o = o.withDefaults()
	clients, err := connect(cfg, o.ID)
	if err != nil {
		return nil, err
	}
	m := &Mesh{
		config: newCluster(clients, o), options: o,
		wake: make(chan struct{}, 1), remotes: map[model.ClusterID]*remote{},
	}
	m.config.addConfigKinds(clients, o.RootNamespace)
	m.secrets = m.config.addSecrets(clients.core, o.RootNamespace, m.look)
	return m, nil
}

// look has the Secrets looked at.
func (m *Mesh) look() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// Run implements source.Source. It returns when ctx is done.
func (m *Mesh) Run(ctx context.Context, sink source.Sink) error {
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	own := &configSink{Sink: sink, synced: make(chan struct{})}
	ended := make(chan error, 1)
	running.Go(func() { ended <- m.config.Run(ctx, own) })
	known := own.synced
	// 1. Secrets changed: connect to those clusters, and to no others.
	// 2. The config cluster, its Secrets included, is known: wait for the clusters
	//    that these name.
	// 3. The end.
	for {
		select {
		case <-m.wake:
			m.reconcile(ctx, sink, &running)
		case <-known:
			known = nil
			m.reconcile(ctx, sink, &running)
			waiting := m.all()
			running.Go(func() { syncedAfter(ctx, sink, waiting) })
		case err := <-ended:
			return err
		}
	}
}

// syncedAfter says Synced as soon as no remote cluster is waited for any more.
func syncedAfter(ctx context.Context, sink source.Sink, waiting []*remote) {
	for _, r := range waiting {
		select {
		case <-r.settled:
		case <-ctx.Done():
			return
		}
	}
	sink.Synced()
}

// configSink passes on what the config cluster tells, but for Synced.
type configSink struct {
	source.Sink
	synced chan struct{}
}

func (s *configSink) Synced() { close(s.synced) }

// reconcile makes the remote clusters those of the Secrets.
func (m *Mesh) reconcile(ctx context.Context, sink source.Sink, running *sync.WaitGroup) {
	found := m.findRemotes()
	for _, r := range m.all() {
		if !found.names(r.id) {
			m.mu.Lock()
			delete(m.remotes, r.id)
			m.mu.Unlock()
			r.remove()
		}
	}
	for _, w := range found.usable {
		m.mu.Lock()
		r, ok := m.remotes[w.id]
		if !ok {
			r = newRemote(w.id, sink, m.options)
			m.remotes[w.id] = r
		}
		m.mu.Unlock()
		c, err := r.use(w)
		if err != nil {
			found.problem(w.secret, w.id, err.Error())
		}
		if c != nil {
			running.Go(func() { c.run(ctx) })
		}
	}
	m.mu.Lock()
	m.problems = since(found.problems, m.problems, m.options.Now())
	m.mu.Unlock()
}

// findRemotes reads the Secrets as they are.
func (m *Mesh) findRemotes() *found {
	var secrets []*corev1.Secret
	for _, o := range m.secrets.informer.GetStore().List() {
		if s, ok := o.(*corev1.Secret); ok {
			secrets = append(secrets, s)
		}
	}
	return readSecrets(secrets, m.options.ID)
}

// all are the remote clusters by ID.
func (m *Mesh) all() []*remote {
	m.mu.RLock()
	defer m.mu.RUnlock()
	out := make([]*remote, 0, len(m.remotes))
	for _, r := range m.remotes {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *remote) int { return cmp.Compare(a.id, b.id) })
	return out
}

// Get implements source.Source.
func (m *Mesh) Get(key model.ObjectKey) source.Object {
	if key.Cluster == m.config.id {
		return m.config.Get(key)
	}
	m.mu.RLock()
	r := m.remotes[key.Cluster]
	m.mu.RUnlock()
	if r == nil {
		return nil
	}
	return r.get(key)
}

// All implements source.Source.
func (m *Mesh) All() iter.Seq2[model.ObjectKey, source.Object] {
	return func(yield func(model.ObjectKey, source.Object) bool) {
		clusters := []*Cluster{m.config}
		for _, r := range m.all() {
			if c := r.cluster(); c != nil {
				clusters = append(clusters, c)
			}
		}
		for _, c := range clusters {
			for key, o := range c.All() {
				if !yield(key, o) {
					return
				}
			}
		}
	}
}

// Status implements source.Source.
func (m *Mesh) Status() source.Status {
	st := m.config.Status()
	m.mu.RLock()
	st.Problems = append(st.Problems, m.problems...)
	m.mu.RUnlock()
	for _, r := range m.all() {
		cluster, problems := r.status()
		st.Clusters = append(st.Clusters, cluster)
		st.Problems = append(st.Problems, problems...)
	}
	source.SortClusters(st.Clusters)
	return st
}

var _ source.Source = (*Mesh)(nil)
