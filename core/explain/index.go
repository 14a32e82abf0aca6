package explain

import (
	"context"
	"iter"
	"math"
	"slices"
	"sync"

	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
)

// index finds objects that a snapshot does not hold: Pods, legacy Endpoints, and the
// ServiceEntries and DestinationRules that the registry leaves out. It is made of
// all objects once, and from then on follows the causes in the journal, so that a
// question costs what has changed and not what there is.
type index struct {
	making sync.Mutex // held by the one who reads all objects
	mu     sync.Mutex // protects table and what it holds
	table  *table
}

// table is what an index knows. An object is not taken out when it changes: what is
// found is held against the object as it is.
type table struct {
	seq   uint64 // the transition up to which it is right
	found map[model.Kind]map[string][]model.ObjectKey
	// entries counts what was ever added, made what was there at first.
	entries, made int
}

const (
	// keepEntries bounds what a table holds that is out of date, beside as many
	// entries as there were.
	keepEntries = 10_000
	// followEvery is after how many transitions an index follows the journal if
	// nobody asks, so that it does not lose sight of it.
	followEvery = 100
)

// run makes the index as soon as there is something to ask about, and keeps it.
func (ix *index) run(ctx context.Context, objects Objects, j *journal.Journal) {
	for next := uint64(1); j.Wait(ctx, next) == nil; {
		next = ix.follow(objects, j) + followEvery
	}
}

// follow brings the index up to date, and says up to which transition it is.
func (ix *index) follow(objects Objects, j *journal.Journal) uint64 {
	if seq, ok := ix.followed(objects, j); ok {
		return seq
	}
	ix.making.Lock()
	defer ix.making.Unlock()
	if seq, ok := ix.followed(objects, j); ok {
		return seq // another has made it meanwhile
	}
	made := newTable(objects, j)
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.table = made
	return made.seq
}

func (ix *index) followed(objects Objects, j *journal.Journal) (seq uint64, ok bool) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.table.follow(objects, j)
}

// newTable reads all objects.
func newTable(objects Objects, j *journal.Journal) *table {
	t := &table{found: map[model.Kind]map[string][]model.ObjectKey{}}
	if j != nil {
		t.seq = j.Last() // what changes meanwhile is looked at again
	}
	for key, o := range objects.All() {
		t.add(key, o)
	}
	t.made = t.entries
	return t
}

// follow takes in what has changed. It is false if that is not known, as there is no
// journal or it does not reach back so far, or if too much is out of date.
func (t *table) follow(objects Objects, j *journal.Journal) (seq uint64, ok bool) {
	if t == nil || j == nil || t.entries > 2*t.made+keepEntries {
		return 0, false
	}
	b := j.Since(t.seq+1, math.MaxInt)
	if b.Gap != nil {
		return 0, false
	}
	for _, x := range b.Transitions {
		for i := range x.Causes {
			t.add(x.Causes[i].Key, objects.Get(x.Causes[i].Key))
		}
	}
	t.seq = b.Next - 1
	return t.seq, true
}

// add takes in an object, which is nil if it is gone.
func (t *table) add(key model.ObjectKey, o source.Object) {
	for term := range terms(o) {
		in := t.found[key.Kind]
		if in == nil {
			in = map[string][]model.ObjectKey{}
			t.found[key.Kind] = in
		}
		if !slices.Contains(in[term], key) {
			in[term] = append(in[term], key)
			t.entries++
		}
	}
}

// with returns the objects that a term finds, in order.
func (ix *index) with(o *Options, kind model.Kind, term string) []model.ObjectKey {
	if o.Objects == nil {
		return nil
	}
	ix.follow(o.Objects, o.Journal)
	ix.mu.Lock()
	keys := ix.table.found[kind][term]
	ix.mu.Unlock()
	var out []model.ObjectKey
	for _, key := range keys { // to which others only append
		for t := range terms(o.Objects.Get(key)) {
			if t == term {
				out = append(out, key)
				break
			}
		}
	}
	slices.SortFunc(out, model.ObjectKey.Compare)
	return out
}

// waiting is the term of the Pods of a namespace that have no address.
func waiting(namespace string) string { return "in " + namespace }

// called is the term of the Pods of a name.
func called(name string) string { return "called " + name }

// anyAddress is the term of what has one, for kinds of which there are few.
const anyAddress = "any"

// terms are what an object is found by: its addresses and name, or its hosts.
func terms(o source.Object) iter.Seq[string] {
	return func(yield func(string) bool) {
		switch v := o.(type) {
		case *corev1.Pod:
			ips := podIPs(v)
			for _, ip := range ips {
				if !yield(model.PlainAddress(ip)) {
					return
				}
			}
			if len(ips) == 0 && !yield(waiting(v.Namespace)) {
				return
			}
			yield(called(v.Name))
		case *corev1.Endpoints: //nolint:staticcheck // read to say that they are ignored
			for _, a := range endpointAddresses(v) {
				if !yield(model.PlainAddress(a)) {
					return
				}
			}
			yield(anyAddress)
		case *networkingv1.DestinationRule:
			yield(v.Spec.GetHost())
		case *networkingv1.ServiceEntry:
			for _, h := range v.Spec.GetHosts() {
				if !yield(h) {
					return
				}
			}
		}
	}
}

func endpointAddresses(e *corev1.Endpoints) []string { //nolint:staticcheck // as above
	var out []string
	for _, s := range e.Subsets {
		for _, a := range slices.Concat(s.Addresses, s.NotReadyAddresses) {
			out = append(out, a.IP)
		}
	}
	return out
}
