package registry

import (
	"cmp"
	"slices"

	"github.com/edsight/edsight/core/model"
)

// index maps a term (a pod's name, an IP, a node, …) to the objects that have it.
type index struct {
	byTerm map[term][]model.ObjectKey
	terms  map[model.ObjectKey][]term
}

// term is a value within a cluster and, where the value is namespaced, within a
// namespace.
type term struct {
	cluster          model.ClusterID
	namespace, value string
}

func newIndex() index {
	return index{byTerm: map[term][]model.ObjectKey{}, terms: map[model.ObjectKey][]term{}}
}

// set replaces the terms of an object; none removes it.
func (x *index) set(key model.ObjectKey, terms ...term) {
	for _, t := range x.terms[key] {
		x.remove(t, key)
	}
	if len(terms) == 0 {
		delete(x.terms, key)
		return
	}
	slices.SortFunc(terms, term.compare)
	terms = slices.Compact(terms)
	x.terms[key] = terms
	for _, t := range terms {
		x.byTerm[t] = append(x.byTerm[t], key)
	}
}

func (x *index) remove(t term, key model.ObjectKey) {
	keys := x.byTerm[t]
	i := slices.Index(keys, key)
	if i < 0 {
		return
	}
	last := len(keys) - 1
	if last == 0 {
		delete(x.byTerm, t)
		return
	}
	keys[i], keys[last] = keys[last], model.ObjectKey{}
	x.byTerm[t] = keys[:last]
}

// get returns the objects that have the term, sorted.
func (x *index) get(t term) []model.ObjectKey {
	out := slices.Clone(x.byTerm[t])
	slices.SortFunc(out, model.ObjectKey.Compare)
	return out
}

func (t term) compare(o term) int {
	return cmp.Or(cmp.Compare(t.cluster, o.cluster), cmp.Compare(t.namespace, o.namespace), cmp.Compare(t.value, o.value))
}
