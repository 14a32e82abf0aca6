package scope

import (
	"slices"

	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// The values of exportTo with a meaning of their own.
const (
	exportPublic  = "*"
	exportPrivate = "."
	exportNone    = "~"
)

// Exports says to which namespaces a service or VirtualService is exported. Istio
// reads exportTo of DestinationRules in another way: see Rule.
type Exports struct {
	public bool
	to     []string // namespaces, in order
}

// ServiceExports are those of a service.
func ServiceExports(mesh *state.Mesh, d *model.Service) Exports {
	return exportsOf(d.ExportTo, mesh.Config.GetDefaultServiceExportTo(), d.Key.Namespace)
}

// VirtualServiceExports are those of a VirtualService.
func VirtualServiceExports(mesh *state.Mesh, vs *networkingv1.VirtualService) Exports {
	return exportsOf(vs.Spec.GetExportTo(), mesh.Config.GetDefaultVirtualServiceExportTo(), vs.Namespace)
}

// exportsOf reads exportTo as written, or the default of the mesh when nothing
// is written. Of the default only "*" and "." have an effect.
func exportsOf(exportTo, meshDefault []string, namespace string) Exports {
	if len(exportTo) == 0 {
		switch {
		case slices.Contains(meshDefault, exportPrivate):
			return Exports{to: []string{namespace}}
		case meshDefault == nil || slices.Contains(meshDefault, exportPublic):
			return Exports{public: true}
		}
		return Exports{}
	}
	if slices.Contains(exportTo, exportPublic) {
		return Exports{public: true}
	}
	if slices.Contains(exportTo, exportNone) {
		return Exports{}
	}
	e := Exports{}
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

// Public tells whether every namespace sees it.
func (e Exports) Public() bool { return e.public }

func (e Exports) visibleIn(namespace string) bool {
	return e.public || slices.Contains(e.to, namespace)
}

// rank orders what a namespace sees: its private things, then what others export
// to it by name, then what is public.
func (e Exports) rank(owner, namespace string) int {
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
