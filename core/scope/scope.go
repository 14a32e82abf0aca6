package scope

import (
	"slices"
	"strings"

	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// Key is what a Scope depends on besides the configuration. Proxies with equal
// Keys share one Scope.
type Key struct {
	Type      model.ProxyType
	Namespace string
	// Sidecar is the one that applies, zero if there is none.
	Sidecar model.ObjectKey
	// Gateways names those that select a router, if they decide what it may see.
	Gateways string
}

// Scope is what proxies of one Key may see. It is immutable and holds nothing
// that changes with endpoints.
type Scope struct {
	Key Key
	// Sidecar is the object named in Key, nil if there is none.
	Sidecar *networkingv1.Sidecar
	// Imports are the definitions in use, one per hostname, in the order of these.
	Imports []Import
	// Excluded are the other definitions and why each is not in use, by hostname,
	// then namespace.
	Excluded []Excluded

	index *index
}

// Import is the one definition of a hostname that the proxies use.
type Import struct {
	// Definition may have other ports than the registry's: only those imported, or
	// those of several ServiceEntries together.
	Definition *model.Service
	Why        Why
	// Via is the Sidecar or VirtualService that imports it, zero if everything is
	// imported.
	Via model.ObjectKey
	// ClusterLocal tells that only endpoints of the proxy's cluster count.
	ClusterLocal bool

	rules []*Rule
}

// Excluded is a definition that the proxies do not use.
type Excluded struct {
	Definition *model.Service
	Why        Why
	// By is the definition that won the hostname, nil if it was not about that.
	By *model.Service
}

// For returns the scope of a proxy. A Cache does the same with less work when
// there is more than one proxy.
func For(snap *state.Snapshot, p *model.Proxy) *Scope {
	ix := newIndex(snap)
	return ix.scope(ix.key(p))
}

func (ix *index) scope(k Key) *Scope {
	b := &builder{index: ix, key: k, at: make(map[model.Hostname]int, len(ix.byHost))}
	s := &Scope{Key: k, index: ix}
	if s.Sidecar = ix.sidecar(k.Sidecar); s.Sidecar != nil {
		b.via = k.Sidecar
	}
	if k.Type == model.Router {
		b.routerScope()
	} else {
		b.sidecarScope(s.Sidecar)
	}
	s.Imports, s.Excluded = b.result()
	return s
}

// Import returns the definition in use for a hostname, or nil.
func (s *Scope) Import(host model.Hostname) *Import {
	i, ok := slices.BinarySearchFunc(s.Imports, host, func(i Import, h model.Hostname) int {
		return strings.Compare(string(i.Definition.Key.Hostname), string(h))
	})
	if !ok {
		return nil
	}
	return &s.Imports[i]
}

// Others returns the definitions of a hostname that are not in use.
func (s *Scope) Others(host model.Hostname) []Excluded {
	var out []Excluded
	for _, e := range s.Excluded {
		if e.Definition.Key.Hostname == host {
			out = append(out, e)
		}
	}
	return out
}

// Rule returns the DestinationRule in force for an imported service, or nil.
func (s *Scope) Rule(i *Import, p *model.Proxy) *Rule {
	return ruleFor(i.rules, p.Labels)
}

// InboundRule returns the DestinationRule that holds for what the workloads of a
// service are sent, or nil. One with a selector is for clients only.
func (s *Scope) InboundRule(host model.Hostname) *Rule {
	im := s.Import(host)
	if im == nil {
		return nil
	}
	for _, r := range slices.Backward(im.rules) {
		if !r.selects() {
			return r
		}
	}
	return nil
}

// Rules returns the DestinationRules that may be in force for some proxy.
func (i *Import) Rules() []*Rule { return i.rules }

// Gateways returns the gateways of networks; those with a DNS name only if named.
func (s *Scope) Gateways(named bool) eds.Gateways {
	if named {
		return s.index.namedGateways
	}
	return s.index.gateways
}

// PassesThrough tells whether the proxy is a router that passes mTLS on to the
// service that the SNI names: its Gateways alone say so, not its router mode.
func (s *Scope) PassesThrough(p *model.Proxy) bool {
	return p.Type == model.Router &&
		slices.ContainsFunc(s.index.passthrough, func(g *networkingv1.Gateway) bool { return selectsRouter(s.index.mesh, g, p) })
}

// Mesh returns the mesh configuration that the scope was made with.
func (s *Scope) Mesh() *state.Mesh { return s.index.mesh }

// ClusterLocalBy is the host in the mesh's serviceSettings, or in their defaults, by
// which a hostname is cluster-local or not; "" if none is for it.
func (s *Scope) ClusterLocalBy(host model.Hostname) model.Hostname {
	setting, _ := mostSpecific(s.index.clusterLocal, host)
	return setting
}

// DefinitionsIn iterates over the definitions of one namespace, whether or not
// they are in scope: those of a workload's own services.
func (s *Scope) DefinitionsIn(namespace string) []*model.Service {
	entries := s.index.byNamespace[namespace]
	out := make([]*model.Service, 0, len(entries))
	for _, e := range entries {
		out = append(out, e.def)
	}
	return out
}

// key finds the Sidecar that applies to a proxy: of its namespace, first those
// that select it, then those without selector, the oldest first; then the root
// namespace's oldest without selector. Routers have none.
func (ix *index) key(p *model.Proxy) Key {
	k := Key{Type: p.Type, Namespace: p.Namespace}
	if p.Type == model.Router {
		k.Gateways = ix.routed.gatewaysOf(p)
		return k
	}
	for _, s := range ix.sidecars {
		sel := s.Spec.GetWorkloadSelector()
		if s.GetNamespace() == p.Namespace && (sel == nil || model.Labels(sel.GetLabels()).SubsetOf(p.Labels)) {
			k.Sidecar = sidecarKey(s)
			return k
		}
	}
	for _, s := range ix.sidecars {
		if s.GetNamespace() == ix.mesh.RootNamespace && s.Spec.GetWorkloadSelector() == nil {
			k.Sidecar = sidecarKey(s)
			return k
		}
	}
	return k
}

func sidecarKey(s *networkingv1.Sidecar) model.ObjectKey {
	return model.ObjectKey{Kind: model.KindSidecar, Namespace: s.GetNamespace(), Name: s.GetName()}
}

func (ix *index) sidecar(key model.ObjectKey) *networkingv1.Sidecar {
	for _, s := range ix.sidecars {
		if sidecarKey(s) == key {
			return s
		}
	}
	return nil
}
