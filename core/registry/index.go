package registry

import (
	"slices"

	"github.com/edsight/edsight/core/model"
)

// index maps a term (a pod's name, an IP, a node, …) to the objects that have it.
type index struct {
	byTerm map[term]map[model.ObjectKey]struct{}
	terms  map[model.ObjectKey][]term
}

// term is a value within a cluster and, where the value is namespaced, within a
// namespace.
type term struct {
	cluster          model.ClusterID
	namespace, value string
}

func newIndex() index {
	return index{byTerm: map[term]map[model.ObjectKey]struct{}{}, terms: map[model.ObjectKey][]term{}}
}

// set replaces the terms of an object; none removes it.
func (x *index) set(key model.ObjectKey, terms ...term) {
	for _, t := range x.terms[key] {
		delete(x.byTerm[t], key)
		if len(x.byTerm[t]) == 0 {
			delete(x.byTerm, t)
		}
	}
	if len(terms) == 0 {
		delete(x.terms, key)
		return
	}
	x.terms[key] = terms
	for _, t := range terms {
		if x.byTerm[t] == nil {
			x.byTerm[t] = map[model.ObjectKey]struct{}{}
		}
		x.byTerm[t][key] = struct{}{}
	}
}

// get returns the objects that have the term, sorted.
func (x *index) get(t term) []model.ObjectKey {
	set := x.byTerm[t]
	if len(set) == 0 {
		return nil
	}
	out := make([]model.ObjectKey, 0, len(set))
	for k := range set {
		out = append(out, k)
	}
	slices.SortFunc(out, model.ObjectKey.Compare)
	return out
}
