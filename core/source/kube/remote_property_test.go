package kube

import (
	"log/slog"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
)

// far is a remote cluster of a test: what its API server has, and what its
// connections have seen and said of it.
type far struct {
	random  *rand.Rand
	server  map[string]*corev1.Service
	version int
	remote  *remote
	feeds   []*feed

	// What a reader knows who looks up, some time later, every key that it is told
	// of.
	dirty map[model.ObjectKey]bool
	known map[model.ObjectKey]string
	told  int
}

// feed is a connection and what it has not said yet of what it has seen.
type feed struct {
	*connection
	unsaid []source.Cause
	synced bool
}

func (f *far) Dirty(causes ...source.Cause) {
	for _, c := range causes {
		f.told++
		f.dirty[c.Key] = true
	}
}

func (*far) Synced() {}

// read looks up what is dirty.
func (f *far) read() {
	for key := range f.dirty {
		if o := f.remote.get(key); o != nil {
			f.known[key] = o.GetResourceVersion() + string(o.GetUID())
		} else {
			delete(f.known, key)
		}
	}
	clear(f.dirty)
}

func newFar(seed uint64) *far {
	f := &far{random: rand.New(rand.NewPCG(seed, 1)), server: map[string]*corev1.Service{}, dirty: map[model.ObjectKey]bool{}, known: map[model.ObjectKey]string{}}
	f.remote = newRemote("far", f, Options{}.withDefaults())
	return f
}

func (f *far) connect() {
	c := &Cluster{id: "far", now: time.Now, log: slog.New(slog.DiscardHandler), kinds: map[model.Kind]*kind{}}
	c.kinds[model.KindService] = &kind{
		kind:     model.KindService,
		informer: cache.NewSharedIndexInformerWithOptions(&cache.ListWatch{}, &corev1.Service{}, cache.SharedIndexInformerOptions{}),
	}
	one := &connection{remote: f.remote, cluster: c, stop: func() {}}
	f.remote.mu.Lock()
	f.remote.replaceNextLocked(one)
	f.remote.mu.Unlock()
	f.feeds = append(f.feeds, &feed{connection: one})
}

// write creates, replaces, changes or deletes an object in the API server.
func (f *far) write() {
	name := strconv.Itoa(f.random.IntN(6))
	f.version++
	switch was := f.server[name]; {
	case was != nil && f.random.IntN(3) == 0:
		delete(f.server, name)
	case was != nil && f.random.IntN(3) > 0:
		f.server[name] = service(name, f.version, was.UID)
	default:
		f.server[name] = service(name, f.version, types.UID(strconv.Itoa(f.version)))
	}
}

func service(name string, version int, uid types.UID) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", ResourceVersion: strconv.Itoa(version), UID: uid}}
}

// see has the connection's store become what the API server has.
func (f *far) see(t *testing.T, c *feed) {
	t.Helper()
	store := c.cluster.kinds[model.KindService].informer.GetStore()
	for _, o := range store.List() {
		was, ok := o.(*corev1.Service)
		if ok && f.server[was.Name] == nil {
			if err := store.Delete(was); err != nil {
				t.Fatal(err)
			}
			c.unsaid = append(c.unsaid, cause(source.OpDelete, was))
		}
	}
	for _, o := range f.server {
		was, there, err := store.Get(o)
		if err == nil && was != any(o) {
			err = store.Add(o)
			op := source.OpAdd
			if there {
				op = source.OpUpdate
			}
			c.unsaid = append(c.unsaid, cause(op, o))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func cause(op source.Op, o *corev1.Service) source.Cause {
	key := model.ObjectKey{Cluster: "far", Kind: model.KindService, Namespace: o.Namespace, Name: o.Name}
	return source.Cause{Key: key, Op: op, ResourceVersion: o.ResourceVersion}
}

// say tells the next of what the connection has seen.
func (c *feed) say() {
	if len(c.unsaid) > 0 {
		c.Dirty(c.unsaid[0])
		c.unsaid = c.unsaid[1:]
	}
}

// sync is what a connection does when it has told all that there was.
func (f *far) sync(t *testing.T, c *feed) {
	t.Helper()
	if !c.synced {
		f.see(t, c)
		for len(c.unsaid) > 0 {
			c.say()
		}
		c.synced = true
		c.Synced()
	}
}

func (f *far) step(t *testing.T) {
	t.Helper()
	c := f.feeds[f.random.IntN(len(f.feeds))]
	switch f.random.IntN(14) {
	case 0:
		f.connect()
	case 1:
		f.sync(t, c)
	case 2:
		c.expire()
	case 3, 4, 5:
		f.see(t, c)
	case 6, 7:
		c.say()
	case 8, 9:
		f.read()
	default:
		f.write()
	}
}

// In whatever order connections are made, see, speak, sync and are late, what is
// told is in the end what there is, once; and nothing after the removal.
func TestReadersOfARemoteClusterMissNothing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		f := newFar(seed)
		f.connect()
		for range 60 {
			f.step(t)
		}
		last := f.feeds[len(f.feeds)-1]
		f.sync(t, last)
		f.see(t, last)
		for len(last.unsaid) > 0 {
			last.say()
		}
		f.read()
		if !f.knowsAll() {
			t.Fatalf("seed %d: known is %v, the API server has %v", seed, f.known, f.server)
		}
		before := f.told
		f.connect()
		f.sync(t, f.feeds[len(f.feeds)-1])
		if f.told != before {
			t.Fatalf("seed %d: new credentials told of %d objects that are the same", seed, f.told-before)
		}
		f.remote.remove()
		for _, c := range f.feeds {
			f.see(t, c)
			c.say()
			c.Synced()
		}
		f.read()
		if len(f.known) != 0 || f.remote.cluster() != nil {
			t.Fatalf("seed %d: after its removal the cluster has %v", seed, f.known)
		}
	}
}

func (f *far) knowsAll() bool {
	for _, o := range f.server {
		if f.known[cause(source.OpAdd, o).Key] != o.ResourceVersion+string(o.UID) {
			return false
		}
	}
	return len(f.known) == len(f.server)
}
