package explain

import (
	"math"
	"net/netip"
	"slices"
	"sync"

	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
)

// index finds objects that a snapshot does not hold: Pods, legacy Endpoints, and the
// ServiceEntries and DestinationRules that the registry leaves out. It is made of all objects when
// it is first asked, and from then on follows the causes in the journal, so that a
// question costs what has changed and not what there is.
type index struct {
	mu  sync.Mutex // protects all below
	seq uint64     // the transition up to which the index is right
	// known are the objects as they were taken in, by namespace.
	known map[string]map[model.ObjectKey]source.Object
	found map[term][]model.ObjectKey
	count map[model.Kind]int
}

// term is what objects are found by.
type term struct {
	kind  model.Kind
	value string // an address, or a host
}

// followLocked brings the index up to date. Without a journal it is made anew.
func (ix *index) followLocked(objects Objects, j *journal.Journal) {
	if j == nil || ix.known == nil {
		ix.rebuildLocked(objects, j)
		return
	}
	b := j.Since(ix.seq+1, math.MaxInt)
	if b.Gap != nil {
		ix.rebuildLocked(objects, j)
		return
	}
	for _, t := range b.Transitions {
		for i := range t.Causes {
			key := t.Causes[i].Key
			ix.setLocked(key, objects.Get(key))
		}
	}
	ix.seq = b.Next - 1
}

func (ix *index) rebuildLocked(objects Objects, j *journal.Journal) {
	ix.known, ix.found, ix.seq = map[string]map[model.ObjectKey]source.Object{}, map[term][]model.ObjectKey{}, 0
	ix.count = map[model.Kind]int{}
	if j != nil {
		ix.seq = j.Last() // what changes meanwhile is looked at again
	}
	for key, o := range objects.All() {
		ix.setLocked(key, o)
	}
}

// setLocked takes in an object as it is now, nil if it is gone.
func (ix *index) setLocked(key model.ObjectKey, o source.Object) {
	switch key.Kind { //nolint:exhaustive // the others are not looked for
	case model.KindPod, model.KindEndpoints, model.KindServiceEntry, model.KindDestinationRule:
	default:
		return
	}
	in := ix.known[key.Namespace]
	if old := in[key]; old != nil {
		for _, t := range termsOf(key.Kind, old) {
			left := slices.DeleteFunc(ix.found[t], func(k model.ObjectKey) bool { return k == key })
			if ix.found[t] = left; len(left) == 0 {
				delete(ix.found, t)
			}
		}
		delete(in, key)
		ix.count[key.Kind]--
	}
	if o == nil {
		return
	}
	if in == nil {
		in = map[model.ObjectKey]source.Object{}
		ix.known[key.Namespace] = in
	}
	in[key] = o
	ix.count[key.Kind]++
	for _, t := range termsOf(key.Kind, o) {
		ix.found[t] = append(ix.found[t], key)
	}
}

func termsOf(kind model.Kind, o source.Object) []term {
	var out []term
	switch v := o.(type) {
	case *corev1.Pod:
		for _, ip := range podIPs(v) {
			out = append(out, term{kind, canonical(ip)})
		}
	case *corev1.Endpoints: //nolint:staticcheck // read to say that they are ignored
		for _, s := range v.Subsets {
			for _, a := range slices.Concat(s.Addresses, s.NotReadyAddresses) {
				out = append(out, term{kind, canonical(a.IP)})
			}
		}
	case *networkingv1.DestinationRule:
		out = append(out, term{kind, v.Spec.GetHost()})
	case *networkingv1.ServiceEntry:
		for _, h := range v.Spec.GetHosts() {
			out = append(out, term{kind, h})
		}
	}
	return out
}

// canonical writes an address in the one way by which it is found.
func canonical(address string) string {
	if a, err := netip.ParseAddr(address); err == nil {
		return a.String()
	}
	return address
}

// with returns the objects that a term finds, in order.
func (ix *index) with(o *Options, kind model.Kind, value string) []model.ObjectKey {
	defer ix.now(o)()
	return slices.SortedFunc(slices.Values(ix.found[term{kind, value}]), model.ObjectKey.Compare)
}

// each calls f with every object of one kind in a namespace, in any order.
func (ix *index) each(o *Options, kind model.Kind, namespace string, f func(model.ObjectKey, source.Object)) {
	defer ix.now(o)()
	for key, object := range ix.known[namespace] {
		if key.Kind == kind {
			f(key, object)
		}
	}
}

// reads tells whether there is any object of the kind.
func (ix *index) reads(o *Options, kind model.Kind) bool {
	defer ix.now(o)()
	return ix.count[kind] > 0
}

// now locks the index, brought up to date, until the returned function is called.
func (ix *index) now(o *Options) (unlock func()) {
	ix.mu.Lock()
	if o.Objects != nil {
		ix.followLocked(o.Objects, o.Journal)
	}
	return ix.mu.Unlock
}
