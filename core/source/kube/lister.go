package kube

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/edsight/edsight/core/source"
)

// listed is an object T that can be decoded from protobuf.
type listed[T any] interface {
	*T
	source.Object
	Unmarshal(encoded []byte) error
}

// lister is a client of a kind that the API server sends in protobuf. It takes the
// objects of a list one by one while they arrive, and strips each at once: the answer
// is never in memory as a whole, and most is done while the API server still sends.
type lister[L runtime.Object, T any, O listed[T]] struct {
	api[L]
	rest     rest.Interface
	resource string
	// fields are those of an object that strip uses; nil decodes all.
	fields kept
	strip  func(O) O
}

// IsWatchListSemanticsUnSupported has informers list and then watch. The API server
// needs less time for that than for a watch that begins with all there is.
func (lister[L, T, O]) IsWatchListSemanticsUnSupported() bool { return true }

// Watch implements api. It strips what arrives.
func (l lister[L, T, O]) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w, err := l.api.Watch(ctx, o)
	if err != nil {
		return nil, err
	}
	return drained{watch.Filter(w, func(e watch.Event) (watch.Event, bool) {
		if o, ok := e.Object.(O); ok {
			e.Object = l.strip(o)
		}
		return e, true
	})}, nil
}

// drained is a filtered watch that ends when it is stopped, though nobody takes the
// event that is under way.
type drained struct{ watch.Interface }

// Stop implements watch.Interface.
func (d drained) Stop() {
	d.Interface.Stop()
	go func() {
		for range d.ResultChan() {
			// until it is closed
		}
	}()
}

// List implements api. It strips what arrives.
func (l lister[L, T, O]) List(ctx context.Context, o metav1.ListOptions) (*internalversion.List, error) {
	if o.ResourceVersion == "0" {
		o.Limit = 0 // what it has in memory the API server goes through for each page
	}
	body, err := l.rest.Get().Resource(l.resource).VersionedParams(&o, scheme.ParameterCodec).Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	r := bufio.NewReaderSize(body, 64<<10)
	switch begin, err := r.Peek(len(magic)); {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("list of %s: %w", l.resource, err)
	case string(begin) != magic:
		return l.listWhole(ctx, o)
	}
	list, err := l.read(r)
	if err == nil {
		_, err = io.Copy(io.Discard, r) // to its end, so that the connection may be used again
	}
	if err != nil {
		return nil, fmt.Errorf("list of %s: %w", l.resource, err)
	}
	return list, nil
}

// listWhole is for API servers that do not answer in protobuf.
func (l lister[L, T, O]) listWhole(ctx context.Context, o metav1.ListOptions) (*internalversion.List, error) {
	answer, err := l.api.List(ctx, o)
	if err != nil {
		return nil, err
	}
	m, err := meta.ListAccessor(answer)
	if err != nil {
		return nil, fmt.Errorf("list of %s: %w", l.resource, err)
	}
	list := &internalversion.List{}
	list.ResourceVersion, list.Continue = m.GetResourceVersion(), m.GetContinue()
	err = meta.EachListItemWithAlloc(answer, func(item runtime.Object) error {
		o, ok := item.(O)
		if !ok {
			return fmt.Errorf("list of %s: an item is a %T", l.resource, item)
		}
		list.Items = append(list.Items, l.strip(o))
		return nil
	})
	return list, err
}

// magic begins all that Kubernetes writes in protobuf. A runtime.Unknown follows.
const magic = "k8s\x00"

// Numbers of fields: the object in a runtime.Unknown, the metadata and the items of a
// list.
const (
	unknownRaw = 2
	listMeta   = 1
	listItem   = 2
)

// read reads an answer that is a list.
func (l lister[L, T, O]) read(r *bufio.Reader) (*internalversion.List, error) {
	if _, err := r.Discard(len(magic)); err != nil {
		return nil, err
	}
	answer := &message{r: r, left: math.MaxInt64}
	var other bytes.Buffer
	for {
		number, size, err := answer.next()
		if err != nil {
			return nil, unexpected(err)
		}
		if number == unknownRaw {
			return l.readItems(answer.within(size))
		}
		if err := answer.read(&other, size); err != nil {
			return nil, err
		}
	}
}

func (l lister[L, T, O]) readItems(m *message) (*internalversion.List, error) {
	list := &internalversion.List{}
	var field bytes.Buffer
	var used []byte
	for {
		number, size, err := m.next()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err == nil {
			err = m.read(&field, size)
		}
		if err != nil {
			return nil, err
		}
		switch number {
		case listMeta:
			if err := list.ListMeta.Unmarshal(field.Bytes()); err != nil {
				return nil, fmt.Errorf("its metadata: %w", err)
			}
		case listItem:
			o, encoded := O(new(T)), field.Bytes()
			if l.fields != nil {
				used, err = l.fields.append(used[:0], encoded)
				encoded = used
			}
			if err == nil {
				err = o.Unmarshal(encoded)
			}
			if err != nil {
				return nil, fmt.Errorf("item %d: %w", len(list.Items), err)
			}
			list.Items = append(list.Items, l.strip(o))
		}
	}
}
