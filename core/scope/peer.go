package scope

import (
	"slices"
	"strconv"

	security "istio.io/api/security/v1beta1"
	securityv1 "istio.io/client-go/pkg/apis/security/v1"

	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// peerMode is a mode, and the PeerAuthentication that sets it; none if it is the
// default.
type peerMode struct {
	mode security.PeerAuthentication_MutualTLS_Mode
	from model.ObjectKey
}

func (m peerMode) disables() bool { return m.mode == security.PeerAuthentication_MutualTLS_DISABLE }

// under is the mode that an object sets, else that above it.
func (m peerMode) under(above peerMode) peerMode {
	if m.mode == security.PeerAuthentication_MutualTLS_UNSET {
		return above
	}
	return m
}

// peer is a PeerAuthentication.
type peer struct {
	key model.ObjectKey
	*securityv1.PeerAuthentication
}

func (p peer) selector() model.Labels { return p.Spec.GetSelector().GetMatchLabels() }

func (p peer) mode(m *security.PeerAuthentication_MutualTLS) peerMode {
	return peerMode{m.GetMode(), p.key}
}

// peerRule is what one PeerAuthentication means for some workloads.
type peerRule struct {
	selector model.Labels // nil: all of the namespace
	general  peerMode
	ports    map[uint32]peerMode
}

// peerRules lists, by namespace, what its PeerAuthentications and the mesh's mean: the
// rules for workloads, oldest first, and last the namespace's own. The namespace ""
// has the mesh's rule alone.
func peerRules(snap *state.Snapshot) map[string][]peerRule {
	byNamespace := map[string][]peer{}
	for c := range snap.Configs(model.KindPeerAuthentication) {
		if p, ok := c.Object.(*securityv1.PeerAuthentication); ok {
			byNamespace[c.Key.Namespace] = append(byNamespace[c.Key.Namespace], peer{c.Key, p})
		}
	}
	for _, list := range byNamespace {
		slices.SortStableFunc(list, func(a, b peer) int { return compareObjects(a, b) })
	}
	root := snap.Mesh.RootNamespace
	mesh := generalMode(byNamespace[root], peerMode{mode: security.PeerAuthentication_MutualTLS_PERMISSIVE})
	out := map[string][]peerRule{"": {{general: mesh}}}
	for ns, list := range byNamespace {
		if ns != root {
			out[ns] = namespaceRules(list, generalMode(list, mesh))
		}
	}
	return out
}

// generalMode is that of the oldest rule without selector.
func generalMode(list []peer, above peerMode) peerMode {
	for _, p := range list {
		if len(p.selector()) == 0 {
			return p.mode(p.Spec.GetMtls()).under(above)
		}
	}
	return above
}

func namespaceRules(list []peer, general peerMode) []peerRule {
	var out []peerRule
	for _, p := range list {
		if len(p.selector()) == 0 {
			continue // the oldest of these is the general one
		}
		r := peerRule{selector: p.selector(), general: p.mode(p.Spec.GetMtls()).under(general), ports: map[uint32]peerMode{}}
		for port, m := range p.Spec.GetPortLevelMtls() {
			r.ports[port] = p.mode(m).under(r.general)
		}
		out = append(out, r)
	}
	return append(out, peerRule{general: general})
}

// peerAuths makes of rules what clients need to know.
func peerAuths(rules map[string][]peerRule) map[string]eds.PeerAuth {
	out := make(map[string]eds.PeerAuth, len(rules))
	for ns, list := range rules {
		var known []eds.PeerRule
		for _, r := range list {
			k := eds.PeerRule{Selector: r.selector, Disable: r.general.disables()}
			for port, m := range r.ports {
				if k.Ports == nil {
					k.Ports = map[string]bool{}
				}
				k.Ports[strconv.FormatUint(uint64(port), 10)] = m.disables()
			}
			known = append(known, k)
		}
		out[ns] = eds.NewPeerAuth(known)
	}
	return out
}

// PeerAuth returns what clients need to know of the PeerAuthentications for the
// workloads of a namespace.
func (s *Scope) PeerAuth(namespace string) eds.PeerAuth {
	if p, ok := s.index.peers[namespace]; ok {
		return p
	}
	return s.index.peers[""]
}

// DisablingPeer names the PeerAuthentication that turns mTLS off for an endpoint of a
// namespace, false if none does.
func (s *Scope) DisablingPeer(namespace string, e *model.Endpoint) (model.ObjectKey, bool) {
	i, off := s.PeerAuth(namespace).Decide(e)
	if !off {
		return model.ObjectKey{}, false
	}
	rules, ok := s.index.peerRules[namespace]
	if !ok {
		rules = s.index.peerRules[""]
	}
	if m, ok := rules[i].ports[e.Port]; ok {
		return m.from, true
	}
	return rules[i].general.from, true
}
