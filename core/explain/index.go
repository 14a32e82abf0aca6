package explain

import (
	"iter"
	"math"
	"net/netip"
	"slices"
	"strings"
	"sync"

	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
)

// index finds objects that a snapshot does not hold: Pods, legacy Endpoints, and the
// ServiceEntries and DestinationRules that the registry leaves out. It is made of
// all objects when it is first asked, and from then on follows the causes in the
// journal, so that a question costs what has changed and not what there is.
//
// An object is not taken out when it changes: what is found is held against the
// object as it is.
type index struct {
	mu    sync.Mutex // protects all below
	seq   uint64     // the transition up to which the index is right
	found map[model.Kind]map[string][]model.ObjectKey
	// entries counts what was ever added, made those of the last rebuild.
	entries, made int
}

// keepEntries bounds what an index holds that is out of date, beside as many
// entries as there were.
const keepEntries = 10_000

// followLocked brings the index up to date. Without a journal it is made anew.
func (ix *index) followLocked(objects Objects, j *journal.Journal) {
	if j == nil || ix.found == nil || ix.entries > 2*ix.made+keepEntries {
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
			ix.addLocked(t.Causes[i].Key, objects.Get(t.Causes[i].Key))
		}
	}
	ix.seq = b.Next - 1
}

func (ix *index) rebuildLocked(objects Objects, j *journal.Journal) {
	ix.seq, ix.entries, ix.found = 0, 0, map[model.Kind]map[string][]model.ObjectKey{}
	if j != nil {
		ix.seq = j.Last() // what changes meanwhile is looked at again
	}
	for key, o := range objects.All() {
		ix.addLocked(key, o)
	}
	ix.made = ix.entries
}

// addLocked takes in an object, which is nil if it is gone.
func (ix *index) addLocked(key model.ObjectKey, o source.Object) {
	for t := range terms(o) {
		in := ix.found[key.Kind]
		if in == nil {
			in = map[string][]model.ObjectKey{}
			ix.found[key.Kind] = in
		}
		if !slices.Contains(in[t], key) {
			in[t] = append(in[t], key)
			ix.entries++
		}
	}
}

// with returns the objects that a term finds, in order.
func (ix *index) with(o *Options, kind model.Kind, term string) []model.ObjectKey {
	if o.Objects == nil {
		return nil
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.followLocked(o.Objects, o.Journal)
	var out []model.ObjectKey
	for _, key := range ix.found[kind][term] {
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

// anyAddress is the term of what has one, for kinds of which there are few.
const anyAddress = "any"

// terms are what an object is found by: its addresses, or its hosts.
func terms(o source.Object) iter.Seq[string] {
	return func(yield func(string) bool) {
		switch v := o.(type) {
		case *corev1.Pod:
			ips := v.Status.PodIPs
			for i := range ips {
				if !yield(canonical(ips[i].IP)) {
					return
				}
			}
			switch {
			case len(ips) == 0 && v.Status.PodIP != "":
				yield(canonical(v.Status.PodIP))
			case len(ips) == 0:
				yield(waiting(v.Namespace))
			}
		case *corev1.Endpoints: //nolint:staticcheck // read to say that they are ignored
			for _, a := range endpointAddresses(v) {
				if !yield(canonical(a)) {
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

// canonical writes an address in the one way by which it is found.
func canonical(address string) string {
	if strings.IndexByte(address, ':') < 0 {
		return address
	}
	if a, err := netip.ParseAddr(address); err == nil {
		return a.String()
	}
	return address
}
