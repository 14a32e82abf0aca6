package scope

import (
	"iter"
	"slices"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// passthroughGateways lists the Gateways with a server that passes mTLS through
// by its SNI.
func passthroughGateways(snap *state.Snapshot) []*networkingv1.Gateway {
	var out []*networkingv1.Gateway
	for g := range gateways(snap) {
		if slices.ContainsFunc(g.Spec.GetServers(), autoPassthrough) {
			out = append(out, g)
		}
	}
	return out
}

// selectsRouter tells whether a Gateway is for a router. A mesh may have them be for
// those of their own namespace only.
func selectsRouter(mesh *state.Mesh, g *networkingv1.Gateway, p *model.Proxy) bool {
	return (!mesh.Features.ScopeGateways || g.Namespace == p.Namespace) && model.Labels(g.Spec.GetSelector()).SubsetOf(p.Labels)
}

func servesHTTP(s *networking.Server) bool {
	protocol := model.ParseProtocol(s.GetPort().GetProtocol())
	if protocol != model.ProtocolHTTPS {
		return protocol.IsHTTP()
	}
	switch s.GetTls().GetMode() {
	case networking.ServerTLSSettings_PASSTHROUGH, networking.ServerTLSSettings_AUTO_PASSTHROUGH:
		return false
	case networking.ServerTLSSettings_SIMPLE, networking.ServerTLSSettings_MUTUAL,
		networking.ServerTLSSettings_ISTIO_MUTUAL, networking.ServerTLSSettings_OPTIONAL_MUTUAL:
	}
	return true
}

func gateways(snap *state.Snapshot) iter.Seq[*networkingv1.Gateway] {
	return func(yield func(*networkingv1.Gateway) bool) {
		for c := range snap.Configs(model.KindGateway) {
			if g, ok := c.Object.(*networkingv1.Gateway); ok && !yield(g) {
				return
			}
		}
	}
}
