package ads

import (
	"maps"
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"
	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// virtual makes the routes of one port of a host as a gRPC client gets them. Of a
// VirtualService it takes what libraries of gRPC understand: matches of path and
// headers, destinations with subsets and weights, and the timeout. A match by
// anything else holds for no request, and a VirtualService that delegates is left
// out.
//
// Clusters go before routes, as in istiod: if a subset and the routes to it are taken
// away at once, calls that begin between the two messages fail.
type virtual struct {
	scope     *scope.Scope
	proxy     *model.Proxy
	host      model.Hostname
	port      uint32
	namespace string // of the VirtualService
}

func (v *virtual) routes(snap *state.Snapshot) []*routev3.Route {
	spec := v.service(snap)
	if spec == nil {
		return []*routev3.Route{{Match: anyPath(), Action: v.forward(cds.Name(v.port, "", v.host), nil)}}
	}
	var out []*routev3.Route
	for _, h := range spec.GetHttp() {
		for _, m := range v.matches(h) {
			out = append(out, v.route(m, h))
		}
	}
	return out
}

// service is the VirtualService for the host, nil if there is none.
func (v *virtual) service(snap *state.Snapshot) *networking.VirtualService {
	key, ok := v.scope.VirtualService(v.host)
	if !ok {
		return nil
	}
	c, _ := snap.Config(key)
	vs, ok := c.Object.(*networkingv1.VirtualService)
	if !ok || len(vs.Spec.GetHttp()) == 0 ||
		slices.ContainsFunc(vs.Spec.GetHttp(), func(h *networking.HTTPRoute) bool { return h.GetDelegate() != nil }) {
		return nil
	}
	v.namespace = key.Namespace
	return &vs.Spec
}

// matches gives one match for each of the route's that this client may fulfil.
func (v *virtual) matches(h *networking.HTTPRoute) []*routev3.RouteMatch {
	if len(h.GetMatch()) == 0 {
		return []*routev3.RouteMatch{anyPath()}
	}
	var out []*routev3.RouteMatch
	for _, m := range h.GetMatch() {
		if v.applies(m) {
			out = append(out, match(m))
		}
	}
	return out
}

// applies tells whether the client is one that a match is for, and whether it can
// be said.
func (v *virtual) applies(m *networking.HTTPMatchRequest) bool {
	return m.GetScheme() == nil && m.GetMethod() == nil && m.GetAuthority() == nil && len(m.GetQueryParams()) == 0 &&
		scope.ForMesh(m.GetGateways()) &&
		(m.GetPort() == 0 || m.GetPort() == v.port) &&
		(m.GetSourceNamespace() == "" || m.GetSourceNamespace() == v.proxy.Namespace) &&
		model.Labels(m.GetSourceLabels()).SubsetOf(v.proxy.Labels)
}

func anyPath() *routev3.RouteMatch {
	return &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{}}
}

func match(m *networking.HTTPMatchRequest) *routev3.RouteMatch {
	out := anyPath()
	switch uri := m.GetUri(); {
	case uri.GetExact() != "":
		out.PathSpecifier = &routev3.RouteMatch_Path{Path: uri.GetExact()}
	case uri.GetRegex() != "":
		out.PathSpecifier = &routev3.RouteMatch_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{Regex: uri.GetRegex()}}
	default:
		out.PathSpecifier = &routev3.RouteMatch_Prefix{Prefix: uri.GetPrefix()}
	}
	if m.GetIgnoreUriCase() {
		out.CaseSensitive = wrapperspb.Bool(false)
	}
	for _, name := range slices.Sorted(maps.Keys(m.GetHeaders())) {
		out.Headers = append(out.Headers, header(name, m.GetHeaders()[name], false))
	}
	for _, name := range slices.Sorted(maps.Keys(m.GetWithoutHeaders())) {
		out.Headers = append(out.Headers, header(name, m.GetWithoutHeaders()[name], true))
	}
	return out
}

func header(name string, want *networking.StringMatch, invert bool) *routev3.HeaderMatcher {
	out := &routev3.HeaderMatcher{Name: name, InvertMatch: invert}
	text := &matcherv3.StringMatcher{}
	switch {
	case want.GetExact() != "":
		text.MatchPattern = &matcherv3.StringMatcher_Exact{Exact: want.GetExact()}
	case want.GetPrefix() != "":
		text.MatchPattern = &matcherv3.StringMatcher_Prefix{Prefix: want.GetPrefix()}
	case want.GetRegex() != "":
		text.MatchPattern = &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{Regex: want.GetRegex()}}
	default:
		out.HeaderMatchSpecifier = &routev3.HeaderMatcher_PresentMatch{PresentMatch: true}
		return out
	}
	out.HeaderMatchSpecifier = &routev3.HeaderMatcher_StringMatch{StringMatch: text}
	return out
}

// route sends requests to the destinations. What has none is answered by a proxy,
// which gRPC has not: such calls fail.
func (v *virtual) route(m *routev3.RouteMatch, h *networking.HTTPRoute) *routev3.Route {
	list := h.GetRoute()
	if len(list) == 1 {
		return &routev3.Route{Match: m, Action: v.forward(v.cluster(list[0].GetDestination()), h)}
	}
	weights := &routev3.WeightedCluster{}
	for _, d := range list {
		if d.GetWeight() > 0 {
			weights.Clusters = append(weights.Clusters, &routev3.WeightedCluster_ClusterWeight{
				Name: v.cluster(d.GetDestination()), Weight: wrapperspb.UInt32(uint32(d.GetWeight())), //nolint:gosec // not negative
			})
		}
	}
	if len(weights.GetClusters()) == 0 {
		return &routev3.Route{Match: m, Action: &routev3.Route_NonForwardingAction{NonForwardingAction: &routev3.NonForwardingAction{}}}
	}
	to := v.forward("", h)
	to.Route.ClusterSpecifier = &routev3.RouteAction_WeightedClusters{WeightedClusters: weights}
	return &routev3.Route{Match: m, Action: to}
}

func (v *virtual) forward(cluster string, h *networking.HTTPRoute) *routev3.Route_Route {
	a := &routev3.RouteAction{ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: cluster}}
	if h.GetTimeout() != nil {
		a.MaxStreamDuration = &routev3.RouteAction_MaxStreamDuration{MaxStreamDuration: h.GetTimeout()}
	}
	return &routev3.Route_Route{Route: a}
}

// cluster names that of a destination. One without a port means the only one of its
// service, else that which the client asks for.
func (v *virtual) cluster(d *networking.Destination) string {
	host := scope.Qualify(d.GetHost(), v.namespace, v.scope.Mesh().DomainSuffix)
	port := d.GetPort().GetNumber()
	if port == 0 {
		port = v.port
		if im := v.scope.Import(host); im != nil && len(im.Definition.Ports) == 1 {
			port = im.Definition.Ports[0].Number
		}
	}
	return cds.Name(port, d.GetSubset(), host)
}
