package kube

import (
	"cmp"
	"context"
	"slices"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/cache"

	"github.com/edsight/edsight/core/source"
)

// attach makes the informer of k tell the sink what it sees.
func (c *Cluster) attach(ctx context.Context, k *kind, sink source.Sink) (cache.ResourceEventHandlerRegistration, error) {
	if k.strip != nil {
		if err := k.informer.SetTransform(k.strip); err != nil {
			return nil, err
		}
	}
	err := k.informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		c.log.Debug("watch ended", "kind", string(k.kind), "error", err)
	})
	if err != nil {
		return nil, err
	}
	logger := logr.FromContextOrDiscard(ctx)
	if k.changed != nil {
		return k.informer.AddEventHandlerWithOptions(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { k.changed() },
			UpdateFunc: func(_, _ any) { k.changed() },
			DeleteFunc: func(any) { k.changed() },
		}, cache.HandlerOptions{Logger: &logger})
	}
	return k.informer.AddEventHandlerWithOptions(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { c.tell(k, sink, source.OpAdd, o) },
		UpdateFunc: func(before, after any) { c.update(k, sink, before, after) },
		DeleteFunc: func(o any) { c.tell(k, sink, source.OpDelete, o) },
	}, cache.HandlerOptions{Logger: &logger})
}

func (c *Cluster) update(k *kind, sink source.Sink, before, after any) {
	b, okB := before.(source.Object)
	a, okA := after.(source.Object)
	if okA && okB {
		if a.GetResourceVersion() == b.GetResourceVersion() && a.GetUID() == b.GetUID() {
			return // listed again, and the same
		}
		if k.same != nil && k.same(b, a) {
			c.unchanged.Add(1)
			c.link.hear()
			return
		}
	}
	c.tell(k, sink, source.OpUpdate, after)
}

func (c *Cluster) tell(k *kind, sink source.Sink, op source.Op, o any) {
	if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = gone.Obj
	}
	obj, ok := o.(source.Object)
	if !ok {
		c.log.Error("informer gave no object", "kind", string(k.kind), "operation", string(op))
		return
	}
	c.link.hear()
	sink.Dirty(source.Cause{
		Key: c.key(k, obj), Op: op, ResourceVersion: obj.GetResourceVersion(),
		Actor: source.Actor(obj), Seen: c.now(),
	})
}

// problems are those of all kinds, by kind.
func (c *Cluster) problems() []source.Problem {
	var all []source.Problem
	for _, k := range c.kinds {
		k.mu.Lock()
		if k.problem != nil {
			all = append(all, *k.problem)
		}
		k.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b source.Problem) int {
		return cmp.Or(a.Object.Compare(b.Object), cmp.Compare(a.Message, b.Message))
	})
	return all
}

var _ source.Source = (*Cluster)(nil)
