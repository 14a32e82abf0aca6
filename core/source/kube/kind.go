package kube

import (
	"context"
	"net/http"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
)

// kind is what is known of the objects of one kind.
type kind struct {
	kind                   model.Kind
	groupVersion, resource string
	// only is the name of the one object to read; "" reads all.
	only string
	// selector is that of the labels of the objects to read; "" reads all.
	selector string
	// changed, if set, is called in place of telling the sink, and the objects stay
	// within this package.
	changed  func()
	informer cache.SharedIndexInformer
	// strip makes what is stored out of what the client gives, nil if that is it.
	strip cache.TransformFunc
	// same tells whether an update changed nothing of interest; nil: it always did.
	same func(before, after source.Object) bool

	mu      sync.Mutex // protects all below
	absent  chan struct{}
	problem *source.Problem
	// refused is closed at the first answer that the kind may not be read.
	refused   chan struct{}
	isRefused bool
}

// api is a typed client of one kind.
type api[L runtime.Object] interface {
	List(ctx context.Context, o metav1.ListOptions) (L, error)
	Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
}

// get returns an object of the store, or nil.
func (k *kind) get(key model.ObjectKey) source.Object {
	name := key.Name
	if key.Namespace != "" {
		name = key.Namespace + "/" + key.Name
	}
	o, _, err := k.informer.GetStore().GetByKey(name)
	obj, ok := o.(source.Object)
	if err != nil || !ok {
		return nil
	}
	return obj
}

func (k *kind) restrict(o *metav1.ListOptions) {
	if k.only != "" {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, k.only).String()
	}
	o.LabelSelector = k.selector
}

// settled is closed when the first list was handed over or, if the kind may be
// lacking, is known not to be permitted.
func (k *kind) settled(ctx context.Context, told <-chan struct{}, mayLack bool) <-chan struct{} {
	done := make(chan struct{})
	refused := k.refused
	if !mayLack {
		refused = nil
	}
	go func() {
		defer close(done)
		select {
		case <-told:
		case <-refused:
		case <-ctx.Done():
		}
	}()
	return done
}

// isAbsent tells whether the cluster does not have the kind.
func (k *kind) isAbsent() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.absent != nil
}

// isRefusedNow tells whether the last answer was that the kind may not be read.
func (k *kind) isRefusedNow() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.isRefused && k.problem != nil
}

// appear lets those go on who wait for the kind.
func (k *kind) appear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.absent != nil {
		close(k.absent)
		k.absent = nil
	}
}

// waitServed returns when the cluster is believed to have the kind.
func (k *kind) waitServed(ctx context.Context) error {
	k.mu.Lock()
	absent := k.absent
	k.mu.Unlock()
	if absent == nil {
		return nil
	}
	select {
	case <-absent:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// note keeps what the API server said to a list or watch.
func (c *Cluster) note(k *kind, err error) {
	code := statusCode(err)
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case err == nil:
		k.problem = nil
	case code == http.StatusNotFound:
		k.problem = nil
		if k.absent == nil {
			k.absent = make(chan struct{})
		}
	case apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || code == http.StatusTooManyRequests:
		// The informer deals with these; nothing is wrong.
	default:
		if k.problem == nil {
			k.problem = &source.Problem{Since: c.now()}
			c.log.Warn("kind cannot be read", "kind", string(k.kind), "error", err)
		}
		k.problem = &source.Problem{
			Object: model.ObjectKey{Cluster: c.id, Kind: k.kind}, Where: string(c.id),
			Message: err.Error(), Since: k.problem.Since,
		}
	}
	if code == http.StatusForbidden && !k.isRefused {
		k.isRefused = true
		close(k.refused)
	}
}

// call does a list or watch as soon as the API server answers, and again if it
// was lost meanwhile.
func call[T any](ctx context.Context, c *Cluster, k *kind, request func() (T, error)) (T, error) {
	for {
		if err := c.link.wait(ctx); err != nil {
			var none T
			return none, err
		}
		answer, err := request()
		if ctx.Err() == nil && unreachable(err) {
			c.link.lose(err)
			continue
		}
		if ctx.Err() == nil {
			c.link.hear()
			c.note(k, err)
		}
		return answer, err
	}
}

// listWatch is client with three differences: it waits for the API server; a
// kind that the cluster does not have is empty, and a watch of it waits for it
// to appear; what the API server answers is noted.
func listWatch[L runtime.Object](c *Cluster, k *kind, client api[L], empty L) cache.ListerWatcher {
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			k.restrict(&o)
			list, err := call(ctx, c, k, func() (L, error) { return client.List(ctx, o) })
			if apierrors.IsNotFound(err) {
				return empty.DeepCopyObject(), nil
			}
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			k.restrict(&o)
			// With SendInitialEvents the watch stands for a list, which does not wait.
			for o.SendInitialEvents == nil && k.isAbsent() {
				if err := k.waitServed(ctx); err != nil {
					return nil, err
				}
			}
			return call(ctx, c, k, func() (watch.Interface, error) { return client.Watch(ctx, o) })
		},
	}
	return cache.ToListWatcherWithWatchListSemantics(lw, client)
}
