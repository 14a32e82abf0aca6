package scope

import (
	"slices"

	"github.com/edsight/edsight/core/model"
)

// The values of exportTo with a meaning of their own.
const (
	exportPublic  = "*"
	exportPrivate = "."
	exportNone    = "~"
)

// exports says to which namespaces an object is exported.
type exports struct {
	public bool
	to     []string // namespaces, in order
}

// exportsOf reads exportTo as written, or the default of the mesh when nothing
// is written. Of the default only "*" and "." have an effect.
func exportsOf(exportTo, meshDefault []string, namespace string) exports {
	if len(exportTo) == 0 {
		switch {
		case slices.Contains(meshDefault, exportPrivate):
			return exports{to: []string{namespace}}
		case meshDefault == nil || slices.Contains(meshDefault, exportPublic):
			return exports{public: true}
		}
		return exports{}
	}
	if slices.Contains(exportTo, exportPublic) {
		return exports{public: true}
	}
	if slices.Contains(exportTo, exportNone) {
		return exports{}
	}
	e := exports{}
	for _, ns := range exportTo {
		if ns == exportPrivate {
			ns = namespace
		}
		e.to = append(e.to, ns)
	}
	slices.Sort(e.to)
	e.to = slices.Compact(e.to)
	return e
}

func (e exports) visibleIn(namespace string) bool {
	return e.public || slices.Contains(e.to, namespace)
}

// rank orders what a namespace sees: its private things, then what others export
// to it by name, then what is public.
func (e exports) rank(owner, namespace string) int {
	switch {
	case e.public:
		return 2
	case owner == namespace:
		return 0
	}
	return 1
}

// sortByAge orders the definitions of services as Istio's registry: by age, then
// by name and namespace; Kubernetes before ServiceEntries if all that is equal.
func sortByAge(defs []*model.Service) {
	slices.SortStableFunc(defs, func(a, b *model.Service) int {
		return compareAge(a.Created, b.Created, a.Name, b.Name, a.Key.Namespace, b.Key.Namespace)
	})
}
