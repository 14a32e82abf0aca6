package explain_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/memory"
)

// TestIndexFollows changes Pods and legacy Endpoints at random: an Explainer that
// has followed all changes answers as one that is new.
func TestIndexFollows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	b := newBench(t, registry.Features{})
	b.store.Attach(b.core)
	b.core.Flush()
	address := func() string { return fmt.Sprintf("10.9.0.%d", r.IntN(8)) }
	for range 300 {
		for range 1 + r.IntN(4) {
			name := fmt.Sprintf("p-%d", r.IntN(10))
			switch r.IntN(4) {
			case 0:
				b.store.Delete(model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindPod, Namespace: "shop", Name: name})
			case 1:
				b.put(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: "+name+", namespace: shop, labels: {app: web}}\nstatus: {phase: Pending}\n", "Kubernetes")
			case 2:
				b.put(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: "+name+", namespace: shop, labels: {app: web}}\nstatus: {phase: Running, podIP: "+address()+"}\n", "Kubernetes")
			case 3:
				b.put(t, "apiVersion: v1\nkind: Endpoints\nmetadata: {name: "+name+", namespace: shop}\nsubsets: [{addresses: [{ip: "+address()+"}], notReadyAddresses: [{ip: '2001:DB8:0::1'}]}]\n", "Kubernetes")
			}
		}
		b.core.Flush()
		fresh := explain.New(explain.Options{Objects: b.store, Journal: b.core.Journal()})
		for _, a := range []string{address(), "2001:db8::1"} {
			got, want := b.explainer.Trace(b.core.Snapshot(), a, nil), fresh.Trace(b.core.Snapshot(), a, nil)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: got %+v, want %+v", a, got, want)
			}
		}
	}
}

// TestIndexGap loses transitions to a small journal: the index is then made anew.
func TestIndexGap(t *testing.T) {
	b := newBench(t, registry.Features{})
	b.store.Attach(b.core)
	b.core.Flush()
	pod := func(n int) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop}\nstatus: {phase: Running, podIP: 10.9.%d.%d}\n", n/250, n%250+1)
	}
	b.explainer.Trace(b.core.Snapshot(), "10.9.0.1", nil)
	const more = 2100 // than the journal keeps
	for n := range more {
		b.put(t, pod(n), "Kubernetes")
		b.core.Flush()
	}
	last := fmt.Sprintf("10.9.%d.%d", (more-1)/250, (more-1)%250+1)
	if got := b.explainer.Trace(b.core.Snapshot(), last, nil); len(got.Pods) != 1 {
		t.Errorf("%s is that of %v", last, got.Pods)
	}
	if got := b.explainer.Trace(b.core.Snapshot(), "10.9.0.1", nil); len(got.Pods) != 0 {
		t.Errorf("an address that is gone is that of %v", got.Pods)
	}
}

// counted counts how often all objects are read.
type counted struct {
	*memory.Store
	reads atomic.Int32
}

func (c *counted) All() iter.Seq2[model.ObjectKey, source.Object] {
	c.reads.Add(1)
	return c.Store.All()
}

// fleeting lets each object be read once.
type fleeting struct {
	*memory.Store
	gone map[model.ObjectKey]bool
}

func (f fleeting) Get(key model.ObjectKey) source.Object {
	if f.gone[key] {
		return nil
	}
	f.gone[key] = true
	return f.Store.Get(key)
}

// TestPodGoesMeanwhile asks about the name of a Pod that is deleted before its address
// is read.
func TestPodGoesMeanwhile(t *testing.T) {
	b := newBench(t, registry.Features{})
	b.store.Attach(b.core)
	b.core.Flush()
	e := explain.New(explain.Options{Objects: fleeting{b.store, map[model.ObjectKey]bool{}}, Journal: b.core.Journal()})
	if got := e.Trace(b.core.Snapshot(), "client-0", nil).Address; got != "client-0" {
		t.Errorf("a Pod that is gone has the address %s", got)
	}
}

// TestIndexReadsOnce asks many first questions at once: one of them reads all objects.
func TestIndexReadsOnce(t *testing.T) {
	b := newBench(t, registry.Features{})
	b.store.Attach(b.core)
	b.core.Flush()
	objects := counted{Store: b.store}
	e := explain.New(explain.Options{Objects: &objects, Journal: b.core.Journal()})
	want := b.explainer.Trace(b.core.Snapshot(), "10.1.0.1", nil)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got := e.Trace(b.core.Snapshot(), "10.1.0.1", nil); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
	wg.Wait()
	if n := objects.reads.Load(); n != 1 {
		t.Errorf("all objects are read %d times", n)
	}
}

// TestRun reads all objects once there is a state, and never again: also if nobody asks
// while the journal forgets.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, registry.Features{})
		objects := counted{Store: b.store}
		e := explain.New(explain.Options{Objects: &objects, Journal: b.core.Journal()})
		go e.Run(t.Context())
		synctest.Wait()
		if n := objects.reads.Load(); n != 0 {
			t.Fatalf("all objects are read %d times before there is a state", n)
		}
		b.store.Attach(b.core)
		b.core.Flush()
		synctest.Wait()
		if n := objects.reads.Load(); n != 1 {
			t.Fatalf("all objects are read %d times before anybody asks", n)
		}
		const more = 2100 // than the journal keeps
		for n := range more {
			b.put(t, fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop}\nstatus: {phase: Running, podIP: 10.9.%d.%d}\n", n/250, n%250+1), "Kubernetes")
			b.core.Flush()
			synctest.Wait()
		}
		last := fmt.Sprintf("10.9.%d.%d", (more-1)/250, (more-1)%250+1)
		if got := e.Trace(b.core.Snapshot(), last, nil); len(got.Pods) != 1 {
			t.Errorf("%s is that of %v", last, got.Pods)
		}
		if n := objects.reads.Load(); n != 1 {
			t.Errorf("all objects are read %d times", n)
		}
	})
}
