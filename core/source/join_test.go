package source_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/memory"
)

// recorder is a sink that remembers.
type recorder struct {
	mu     sync.Mutex // protects all below
	keys   map[model.ObjectKey]int
	synced int
}

func (r *recorder) Dirty(causes ...source.Cause) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range causes {
		r.keys[c.Key]++
	}
}

func (r *recorder) Synced() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.synced++
}

func node(name, version string) (model.ObjectKey, source.Object) {
	return model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindNode, Name: name}, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version}}
}

func TestJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := memory.New("a", time.Now), memory.New("b", time.Now)
		both, first := node("both", "1")
		a.Put(both, first)
		b.Put(node("both", "2"))
		b.Put(node("only", "3"))
		j := source.Join(a, b)
		r := &recorder{keys: map[model.ObjectKey]int{}}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- j.Run(ctx, r) }()
		synctest.Wait()
		if r.synced != 1 {
			t.Errorf("Synced was said %d times, want once", r.synced)
		}
		if got := j.Get(both); got != first {
			t.Errorf("the object of both sources is %v, want the first source's", got)
		}
		n := 0
		for range j.All() {
			n++
		}
		if n != 2 {
			t.Errorf("All gives %d objects, want 2", n)
		}
		a.Delete(both)
		if got := j.Get(both); got == nil || got.GetResourceVersion() != "2" {
			t.Errorf("after its deletion in the first source the object is %v, want the second's", got)
		}
		if r.keys[both] != 3 {
			t.Errorf("the object was said %d times, want 3", r.keys[both])
		}
		if s := j.Status(); s.Name != "a and b" {
			t.Errorf("the name is %q", s.Name)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// placed is a source whose objects are all at one place.
type placed struct{ *memory.Store }

func (placed) Where(model.ObjectKey) string { return "a.yaml:1" }

// TestJoinWhere asks the source whose object counts.
func TestJoinWhere(t *testing.T) {
	unplaced, a := memory.New("b", time.Now), placed{memory.New("a", time.Now)}
	both, object := node("both", "1")
	unplaced.Put(both, object)
	a.Put(both, object)
	only, object := node("only", "1")
	a.Put(only, object)
	j, ok := source.Join(unplaced, a).(source.Locator)
	if !ok {
		t.Fatal("joined sources do not say where objects are")
	}
	for key, want := range map[model.ObjectKey]string{both: "", only: "a.yaml:1", {Kind: model.KindNode, Name: "none"}: ""} {
		if got := j.Where(key); got != want {
			t.Errorf("%s is at %q, want %q", key, got, want)
		}
	}
}
