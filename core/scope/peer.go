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

const unset = security.PeerAuthentication_MutualTLS_UNSET

// peerRules compiles, by namespace, what its PeerAuthentications and the mesh's
// mean for clients. The namespace "" has the mesh's rule alone.
func peerRules(snap *state.Snapshot) map[string]eds.PeerAuth {
	byNamespace := map[string][]*securityv1.PeerAuthentication{}
	for c := range snap.Configs(model.KindPeerAuthentication) {
		if p, ok := c.Object.(*securityv1.PeerAuthentication); ok {
			byNamespace[c.Key.Namespace] = append(byNamespace[c.Key.Namespace], p)
		}
	}
	for _, list := range byNamespace {
		slices.SortStableFunc(list, func(a, b *securityv1.PeerAuthentication) int { return compareObjects(a, b) })
	}
	root := snap.Mesh.RootNamespace
	mesh := general(byNamespace[root], security.PeerAuthentication_MutualTLS_PERMISSIVE)
	out := map[string]eds.PeerAuth{"": eds.NewPeerAuth([]eds.PeerRule{{Disable: disables(mesh)}})}
	for ns, list := range byNamespace {
		if ns != root {
			out[ns] = eds.NewPeerAuth(namespaceRules(list, general(list, mesh)))
		}
	}
	return out
}

// general is the mode of the oldest rule without selector that sets one.
func general(list []*securityv1.PeerAuthentication, parent security.PeerAuthentication_MutualTLS_Mode) security.PeerAuthentication_MutualTLS_Mode {
	for _, p := range list {
		if len(p.Spec.GetSelector().GetMatchLabels()) == 0 {
			return inherit(p.Spec.GetMtls(), parent)
		}
	}
	return parent
}

func inherit(m *security.PeerAuthentication_MutualTLS, parent security.PeerAuthentication_MutualTLS_Mode) security.PeerAuthentication_MutualTLS_Mode {
	if m.GetMode() == unset {
		return parent
	}
	return m.GetMode()
}

func disables(m security.PeerAuthentication_MutualTLS_Mode) bool {
	return m == security.PeerAuthentication_MutualTLS_DISABLE
}

// namespaceRules lists the rules for workloads, oldest first, and last the
// namespace's own.
func namespaceRules(list []*securityv1.PeerAuthentication, namespace security.PeerAuthentication_MutualTLS_Mode) []eds.PeerRule {
	var out []eds.PeerRule
	for _, p := range list {
		selector := p.Spec.GetSelector().GetMatchLabels()
		if len(selector) == 0 {
			continue
		}
		mode := inherit(p.Spec.GetMtls(), namespace)
		r := eds.PeerRule{Selector: selector, Disable: disables(mode)}
		for port, m := range p.Spec.GetPortLevelMtls() {
			if r.Ports == nil {
				r.Ports = map[string]bool{}
			}
			r.Ports[strconv.FormatUint(uint64(port), 10)] = disables(inherit(m, mode))
		}
		out = append(out, r)
	}
	return append(out, eds.PeerRule{Disable: disables(namespace)})
}
