package e2e_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
)

// guard is a source that remembers what the objects which it handed out were
// like, to find out who changes them.
type guard struct {
	source.Source

	mu     sync.Mutex
	copies map[source.Object]any
}

func newGuard(s source.Source) *guard { return &guard{Source: s, copies: map[source.Object]any{}} }

func (g *guard) Get(key model.ObjectKey) source.Object {
	o := g.Source.Get(key)
	if o == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, known := g.copies[o]; !known {
		g.copies[o] = o.DeepCopyObject()
	}
	return o
}

func (g *guard) check(t *testing.T) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.copies) == 0 {
		t.Error("the core looked at no object")
	}
	for o, was := range g.copies {
		if !cmp.Equal(any(o), was, protocmp.Transform()) {
			t.Errorf("%T %s/%s was changed by a reader", o, o.GetNamespace(), o.GetName())
		}
	}
}
