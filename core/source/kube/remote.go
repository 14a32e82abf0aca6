package kube

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"
	"time"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
)

// remote is a remote cluster. Its connection may be replaced by another, with
// other credentials, without anything being told but what differs.
type remote struct {
	id      model.ClusterID
	sink    source.Sink
	options Options
	// settled is closed when the cluster is not to be waited for any more.
	settled chan struct{}
	settle  func()

	mu     sync.RWMutex // protects all below
	secret model.ObjectKey
	// current is the connection that counts; nil before the first has synced.
	current *connection
	// next is to take its place as soon as it has synced.
	next *connection
	// told are the objects that the sink may know, with the resourceVersions that it
	// was told of; "" if it has looked up what it was not told of yet.
	told map[model.ObjectKey]string
}

// connection is a way to a remote cluster, and the sink of what comes from there.
type connection struct {
	remote  *remote
	cluster *Cluster
	digest  [sha256.Size]byte // of its kubeconfig
	begun   time.Time
	stopped chan struct{}
	stop    func()

	late bool // protected by the remote's mu: it has not synced in time
}

func newRemote(id model.ClusterID, sink source.Sink, o Options) *remote {
	r := &remote{id: id, sink: sink, options: o, settled: make(chan struct{}), told: map[model.ObjectKey]string{}}
	r.settle = sync.OnceFunc(func() { close(r.settled) })
	return r
}

// use has the cluster reached as wanted. It returns a new connection, which is
// to be run, unless there is one already.
func (r *remote) use(w wanted) (*connection, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secret = w.secret
	if r.next != nil && r.next.digest == w.digest {
		return nil, nil
	}
	if r.current != nil && r.current.digest == w.digest {
		r.replaceNextLocked(nil)
		return nil, nil
	}
	clients, err := connect(w.config, r.id)
	if err != nil {
		if r.current == nil && r.next == nil {
			r.settle()
		}
		return nil, err
	}
	o := r.options
	o.ID = r.id
	c := &connection{remote: r, cluster: newCluster(clients, o), digest: w.digest, begun: o.Now(), stopped: make(chan struct{})}
	c.stop = sync.OnceFunc(func() { close(c.stopped) })
	if r.current != nil {
		c.cluster.replaces = r.current.cluster
	}
	r.replaceNextLocked(c)
	return c, nil
}

func (r *remote) replaceNextLocked(c *connection) {
	if r.next != nil {
		r.next.stop()
	}
	r.next = c
}

// run runs the connection until it is stopped or ctx is done.
func (c *connection) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	late := time.AfterFunc(c.remote.options.RemoteTimeout, c.expire)
	defer late.Stop()
	go func() {
		select {
		case <-c.stopped:
			cancel()
		case <-ctx.Done():
		}
	}()
	if err := c.cluster.Run(ctx, c); err != nil {
		c.cluster.log.Error("remote cluster cannot be watched", "error", err)
	}
}

// Dirty implements source.Sink: what the current connection says is passed on.
func (c *connection) Dirty(causes ...source.Cause) {
	r := c.remote
	r.mu.Lock()
	counts := r.current == c
	if counts {
		for i := range causes {
			r.noteLocked(causes[i])
		}
	}
	r.mu.Unlock()
	if counts {
		r.sink.Dirty(causes...)
	}
}

func (r *remote) noteLocked(cause source.Cause) {
	if cause.Op == source.OpDelete {
		delete(r.told, cause.Key)
		return
	}
	r.told[cause.Key] = cause.ResourceVersion
}

// Synced implements source.Sink: the connection takes the place of the one
// before.
func (c *connection) Synced() {
	c.remote.adopt(c)
	c.remote.settle()
}

// expire ends the wait for a first connection: what it has read so far counts.
func (c *connection) expire() {
	r := c.remote
	r.mu.Lock()
	c.late = true
	first := r.current == nil && r.next == c
	r.mu.Unlock()
	if first {
		c.cluster.log.Warn("remote cluster has not synced in time")
		r.adopt(c)
		r.settle()
	}
}

// adopt makes the connection the current one and tells what differs.
func (r *remote) adopt(c *connection) {
	r.mu.Lock()
	if r.next != c { // it already is, or is not wanted any more
		r.mu.Unlock()
		return
	}
	before := r.current
	r.current, r.next = c, nil
	// What c reads from now on it tells itself, so nothing is missed.
	causes := r.differencesLocked(before)
	r.mu.Unlock()
	if before != nil {
		before.stop()
	}
	r.sink.Dirty(causes...)
}

// differencesLocked are the objects of which the sink does not know what the
// current connection has.
func (r *remote) differencesLocked(before *connection) []source.Cause {
	var causes []source.Cause
	for key, o := range r.current.cluster.All() {
		op := source.OpAdd
		if version, ok := r.told[key]; ok {
			op = source.OpUpdate
			if was := before.cluster.Get(key); was != nil && was.GetUID() == o.GetUID() && version == o.GetResourceVersion() {
				continue
			}
		}
		causes = append(causes, source.Cause{
			Key: key, Op: op, ResourceVersion: o.GetResourceVersion(), Actor: source.Actor(o), Seen: r.options.Now(),
		})
	}
	for i := range causes {
		r.noteLocked(causes[i])
	}
	for key := range r.told {
		if r.current.cluster.Get(key) == nil {
			causes = append(causes, r.goneLocked(key))
		}
	}
	sortCauses(causes)
	return causes
}

func (r *remote) goneLocked(key model.ObjectKey) source.Cause {
	cause := source.Cause{Key: key, Op: source.OpDelete, ResourceVersion: r.told[key], Seen: r.options.Now()}
	r.noteLocked(cause)
	return cause
}

// remove ends the cluster: all its objects are gone.
func (r *remote) remove() {
	r.mu.Lock()
	last := r.current
	r.current = nil
	r.replaceNextLocked(nil)
	causes := make([]source.Cause, 0, len(r.told))
	for key := range r.told {
		causes = append(causes, r.goneLocked(key))
	}
	r.mu.Unlock()
	if last != nil {
		last.stop()
	}
	sortCauses(causes)
	r.sink.Dirty(causes...)
	r.settle()
}

func sortCauses(causes []source.Cause) {
	slices.SortFunc(causes, func(a, b source.Cause) int { return a.Key.Compare(b.Key) })
}

// get returns an object of the current connection, and notes that it is known.
func (r *remote) get(key model.ObjectKey) source.Object {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == nil {
		return nil
	}
	o := r.current.cluster.Get(key)
	if _, ok := r.told[key]; !ok && o != nil {
		r.told[key] = ""
	}
	return o
}

// cluster is that of the current connection, nil if there is none.
func (r *remote) cluster() *Cluster {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.current == nil {
		return nil
	}
	return r.current.cluster
}

// status is that of the connection in use, or of the first one. What keeps other
// credentials from being used is a problem.
func (r *remote) status() (source.ClusterStatus, []source.Problem) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	c := r.current
	if c == nil {
		c = r.next
	}
	if c == nil { // the first kubeconfig cannot be used, or the cluster was removed just now
		return source.ClusterStatus{ID: r.id, SecretName: secretName(r.secret), Sync: closed}, nil
	}
	st := c.cluster.Status()
	out := st.Clusters[0]
	out.SecretName, out.Since = secretName(r.secret), c.begun
	if out.Sync == syncing && c.late {
		out.Sync = timedOut
	}
	if r.next == nil || r.next == c {
		return out, st.Problems
	}
	return out, append(st.Problems, r.next.pendingLocked()...)
}

// pendingLocked says why a connection has not yet taken the place of another.
func (c *connection) pendingLocked() []source.Problem {
	st := c.cluster.Status()
	message := "the new credentials are not in use yet, those before them are"
	if e := st.Clusters[0].Error; e != "" {
		message += ": " + e
	} else if !c.late && len(st.Problems) == 0 {
		return nil
	}
	return append([]source.Problem{{
		Object: c.remote.secret, Where: string(c.remote.id), Field: "data." + string(c.remote.id), Message: message, Since: c.begun,
	}}, st.Problems...)
}

func secretName(key model.ObjectKey) string { return key.Namespace + "/" + key.Name }
