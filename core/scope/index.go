package scope

import (
	"cmp"
	"slices"
	"strings"
	"time"

	meshconfig "istio.io/api/mesh/v1alpha1"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// index is what all scopes of one configuration share. It is immutable.
type index struct {
	mesh          *state.Mesh
	services      []*entry // oldest first
	byHost        map[model.Hostname][]*entry
	byNamespace   map[string][]*entry
	routes        []*route
	sidecars      []*networkingv1.Sidecar // those with a selector first, oldest first
	rules         ruleIndex
	peerRules     map[string][]peerRule
	peers         map[string]eds.PeerAuth // of peerRules
	clusterLocal  map[model.Hostname]bool
	passthrough   []*networkingv1.Gateway // those with AUTO_PASSTHROUGH
	routed        *routed                 // what routers have; nil: all that is visible
	gateways      eds.Gateways
	namedGateways eds.Gateways
}

// entry is a definition with what of it is read often.
type entry struct {
	def     *model.Service
	exports Exports
	// local tells that only endpoints of the client's cluster count.
	local bool
}

func newIndex(snap *state.Snapshot) *index {
	ix := &index{
		mesh: snap.Mesh, byHost: map[model.Hostname][]*entry{}, byNamespace: map[string][]*entry{},
		rules: newRuleIndex(snap.Mesh, sortedRules(snap)), clusterLocal: clusterLocalHosts(snap.Mesh), peerRules: peerRules(snap),
	}
	ix.peers = peerAuths(ix.peerRules)
	ix.addServices(snap)
	ix.routes = newRoutes(snap)
	ix.sidecars = sortedSidecars(snap)
	ix.addGateways(snap.Gateways())
	ix.passthrough = passthroughGateways(snap)
	if snap.Mesh.Features.FilterGateways {
		ix.routed = newRouted(snap)
	}
	return ix
}

func (ix *index) addServices(snap *state.Snapshot) {
	var defs []*model.Service
	for svc := range snap.Services() {
		defs = append(defs, svc.Definitions...)
	}
	sortByAge(defs)
	for _, d := range defs {
		e := &entry{def: d, exports: ServiceExports(snap.Mesh, d)}
		setting, ok := mostSpecific(ix.clusterLocal, d.Key.Hostname)
		e.local = ok && ix.clusterLocal[setting]
		ix.services = append(ix.services, e)
		ix.byHost[d.Key.Hostname] = append(ix.byHost[d.Key.Hostname], e)
		ix.byNamespace[d.Key.Namespace] = append(ix.byNamespace[d.Key.Namespace], e)
	}
}

// visible returns the definitions that a namespace sees, in the order in which
// they are taken, and those that it does not see.
func (ix *index) visible(namespace string) (seen, unseen []*entry) {
	ranks := [3][]*entry{}
	for _, e := range ix.services {
		if !e.exports.visibleIn(namespace) {
			unseen = append(unseen, e)
			continue
		}
		r := e.exports.rank(e.def.Key.Namespace, namespace)
		ranks[r] = append(ranks[r], e)
	}
	return slices.Concat(ranks[0], ranks[1], ranks[2]), unseen
}

// pick finds the definition that a VirtualService in scope means by a hostname:
// the client's own, else that of the first namespace which lets it be seen.
func (ix *index) pick(host model.Hostname, namespace string) *entry {
	var best *entry
	for _, e := range ix.byHost[host] {
		ns := e.def.Key.Namespace
		if ns != namespace && !e.exports.visibleIn(namespace) {
			continue
		}
		if best == nil || preferred(ns, best.def.Key.Namespace, namespace) ||
			(ns == best.def.Key.Namespace && isKube(e.def) && !isKube(best.def)) {
			best = e
		}
	}
	return best
}

func preferred(a, b, own string) bool {
	if (a == own) != (b == own) {
		return a == own
	}
	return a < b
}

func (ix *index) addGateways(list []state.Gateway) {
	var addressed, written []state.Gateway
	for _, g := range list {
		if g.Name == "" {
			written = append(written, g)
		}
		if g.Addressed() {
			g.Name = "" // found by two names it is one gateway
			addressed = append(addressed, g)
		}
	}
	ix.gateways, ix.namedGateways = eds.NewGateways(slices.Compact(addressed)), eds.NewGateways(written)
}

func isKube(s *model.Service) bool { return s.Provider == model.ProviderKubernetes }

func sortedSidecars(snap *state.Snapshot) []*networkingv1.Sidecar {
	var out []*networkingv1.Sidecar
	for c := range snap.Configs(model.KindSidecar) {
		if s, ok := c.Object.(*networkingv1.Sidecar); ok {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b *networkingv1.Sidecar) int {
		return cmp.Or(compareBool(a.Spec.GetWorkloadSelector() != nil, b.Spec.GetWorkloadSelector() != nil), compareObjects(a, b))
	})
	return out
}

// compareBool puts true before false.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// compareObjects orders Istio objects by age, then name, then namespace.
func compareObjects(a, b metav1.Object) int {
	return compareAge(a.GetCreationTimestamp().Time, b.GetCreationTimestamp().Time, a.GetName(), b.GetName(), a.GetNamespace(), b.GetNamespace())
}

func compareAge(a, b time.Time, aName, bName, aNamespace, bNamespace string) int {
	return cmp.Or(a.Compare(b), strings.Compare(aName, bName), strings.Compare(aNamespace, bNamespace))
}

// clusterLocalHosts says which hosts are reached in the client's cluster only:
// Istio's defaults, with serviceSettings of the mesh over them.
func clusterLocalHosts(mesh *state.Mesh) map[model.Hostname]bool {
	defaults := []model.Hostname{
		model.Hostname("*.kube-system.svc." + mesh.DomainSuffix),
		model.Hostname("kubernetes.default.svc." + mesh.DomainSuffix),
		discoveryHost(mesh),
	}
	out := map[model.Hostname]bool{}
	for _, s := range mesh.Config.GetServiceSettings() {
		local := s.GetSettings().GetClusterLocal()
		for _, h := range s.GetHosts() {
			host := model.Hostname(h)
			out[host] = local
			if !local {
				defaults = slices.DeleteFunc(defaults, func(d model.Hostname) bool { return overridden(d, host) })
			}
		}
	}
	for _, d := range defaults {
		out[d] = true
	}
	return out
}

// overridden tells whether a setting for the host takes the default back, which
// one host of a default wildcard suffices to do.
func overridden(byDefault, host model.Hostname) bool {
	return host == byDefault || (wild(byDefault) && strings.HasSuffix(string(host), string(byDefault[1:])))
}

func discoveryHost(mesh *state.Mesh) model.Hostname {
	host, _, _ := strings.Cut(discoveryAddress(mesh.Config), ":")
	if !strings.HasSuffix(host, mesh.DomainSuffix) {
		host += "." + mesh.DomainSuffix
	}
	return model.Hostname(host)
}

func discoveryAddress(c *meshconfig.MeshConfig) string {
	return cmp.Or(c.GetDefaultConfig().GetDiscoveryAddress(), "istiod.istio-system.svc:15012")
}
