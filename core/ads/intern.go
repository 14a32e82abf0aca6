package ads

import (
	"runtime"
	"sync"
	"weak"
)

// interned keeps one value per key for as long as somebody uses it.
type interned[K comparable, V any] struct {
	mu     sync.Mutex // protects values
	values map[K]weak.Pointer[V]
}

// get returns the value in use for the key, or one that build makes. build is
// called without a lock; of two values made at a time one is kept.
func (i *interned[K, V]) get(key K, build func() *V) *V {
	if v := i.find(key); v != nil {
		return v
	}
	return i.put(key, build())
}

func (i *interned[K, V]) find(key K) *V {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.values[key].Value()
}

func (i *interned[K, V]) put(key K, v *V) *V {
	if v == nil {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if have := i.values[key].Value(); have != nil {
		return have
	}
	if i.values == nil {
		i.values = map[K]weak.Pointer[V]{}
	}
	p := weak.Make(v)
	i.values[key] = p
	runtime.AddCleanup(v, func(key K) { i.forget(key, p) }, key)
	return v
}

// forget removes a value that nobody uses any more, unless another took its place.
func (i *interned[K, V]) forget(key K, p weak.Pointer[V]) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.values[key] == p {
		delete(i.values, key)
	}
}
