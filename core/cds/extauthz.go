package cds

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/types/known/durationpb"
	meshconfig "istio.io/api/mesh/v1alpha1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// AuthzFilter is a filter of a proxy's listener that decides about requests: the
// call to an external authorization service, or the RBAC rules that say when.
type AuthzFilter struct {
	Filter   string `json:"filter"`
	Type     string `json:"type"`
	Listener string `json:"listener"`

	// Of external authorization.
	ClusterName           string           `json:"clusterName,omitempty"`
	Authority             string           `json:"authority,omitempty"`
	URI                   string           `json:"uri,omitempty"`
	PathPrefix            string           `json:"pathPrefix,omitempty"`
	FailureModeAllow      bool             `json:"failureModeAllow,omitempty"`
	FilterEnabledMetadata *MetadataMatcher `json:"filterEnabledMetadata,omitempty"`
	Timeout               string           `json:"timeout,omitempty"`
	TransportAPIVersion   string           `json:"transportApiVersion,omitempty"`

	// Of RBAC.
	Rules                 *AuthzRules `json:"rules,omitempty"`
	ShadowRules           *AuthzRules `json:"shadowRules,omitempty"`
	ShadowRulesStatPrefix string      `json:"shadowRulesStatPrefix,omitempty"`
}

// MetadataMatcher says for which requests the authorization service is asked.
type MetadataMatcher struct {
	Filter string          `json:"filter"`
	Path   []MetadataKey   `json:"path"`
	Value  MetadataMatched `json:"value"`
}

// MetadataKey is a step of a path in metadata.
type MetadataKey struct {
	Key string `json:"key"`
}

// MetadataMatched is the value that is looked for.
type MetadataMatched struct {
	StringMatch struct {
		Prefix string `json:"prefix"`
	} `json:"stringMatch"`
}

// AuthzRules are the rules of one action.
type AuthzRules struct {
	Action string `json:"action"`
	// Policies names each rule, sorted.
	Policies []string `json:"policies,omitempty"`
}

const (
	httpAuthz = "envoy.filters.http.ext_authz"
	httpRBAC  = "envoy.filters.http.rbac"
	tcpAuthz  = "envoy.filters.network.ext_authz"
	tcpRBAC   = "envoy.filters.network.rbac"

	authzPrefix     = "istio-ext-authz"
	shadowPrefix    = "istio_ext_authz_"
	shadowPolicyKey = shadowPrefix + "shadow_effective_policy_id"
	badCustom       = "-deny-due-to-bad-CUSTOM-action"
	virtualInbound  = "virtualInbound"
	apiV3           = "V3"
)

func typeOfFilter(filter string) string {
	return map[string]string{
		httpAuthz: "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
		httpRBAC:  "envoy.extensions.filters.http.rbac.v3.RBAC",
		tcpAuthz:  "envoy.extensions.filters.network.ext_authz.v3.ExtAuthz",
		tcpRBAC:   "envoy.extensions.filters.network.rbac.v3.RBAC",
	}[filter]
}

// ExtAuthz returns the authorization filters of a proxy's inbound listener, of
// its gateway listeners if it is a router, sorted. Whether the cluster that a
// filter names is one that the proxy has is a question for Build: Istio does not
// ask it.
func ExtAuthz(snap *state.Snapshot, p *model.Proxy) []AuthzFilter {
	set := policiesFor(snap, p)
	out := []AuthzFilter{}
	for _, l := range authzListeners(snap, p) {
		for _, f := range set.filters(snap, l.http, l.tcp) {
			f.Listener = l.name
			f.Type = typeOfFilter(f.Filter)
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b AuthzFilter) int {
		return cmp.Or(cmp.Compare(a.Listener, b.Listener), cmp.Compare(a.Filter, b.Filter))
	})
	return out
}

// authzListener is a listener and which kinds of filter chains it has.
type authzListener struct {
	name      string
	http, tcp bool
}

// authzListeners lists the listeners that authorize: the inbound one of a
// sidecar, those of a router's Gateways.
func authzListeners(snap *state.Snapshot, p *model.Proxy) []authzListener {
	if p.Type != model.Router {
		return []authzListener{{virtualInbound, true, true}}
	}
	var out []authzListener
	for _, l := range scope.GatewayListeners(snap, p) {
		name := cmp.Or(l.Bind, wildcard(p)) + "_" + number(gatewayPort(snap, p, l.Port))
		if i := slices.IndexFunc(out, func(o authzListener) bool { return o.name == name }); i >= 0 {
			out[i].http, out[i].tcp = out[i].http || l.HTTP, out[i].tcp || l.TCP
		} else {
			out = append(out, authzListener{name, l.HTTP, l.TCP})
		}
	}
	return out
}

// wildcard is the address on which a proxy listens for all.
func wildcard(p *model.Proxy) string {
	if onlyIPv6(p) {
		return "::"
	}
	return "0.0.0.0"
}

// gatewayPort is the port that a router listens on for a server of a Gateway:
// the target port of the router's own Service.
func gatewayPort(snap *state.Snapshot, p *model.Proxy, port uint32) uint32 {
	var definitions []*model.Service
	for svc := range snap.Services() {
		if svc.Key.Namespace == p.Namespace {
			definitions = append(definitions, svc.Definitions...)
		}
	}
	for _, t := range Targets(definitions, snap, p) {
		if t.Port.Number == port {
			return t.TargetPort
		}
	}
	return port
}

// provider is an extension provider as a policy's action needs it.
type provider struct {
	http, tcp *AuthzFilter
}

// findProvider resolves the provider of CUSTOM policies; false if it is not
// exactly one, or its service is not, or one of its settings is not valid.
func findProvider(snap *state.Snapshot, name string) (provider, bool) {
	var found []*meshconfig.MeshConfig_ExtensionProvider
	for _, x := range snap.Mesh.Config.GetExtensionProviders() {
		if x.GetName() == name && (x.GetEnvoyExtAuthzGrpc() != nil || x.GetEnvoyExtAuthzHttp() != nil) {
			found = append(found, x)
		}
	}
	if len(found) != 1 {
		return provider{}, false
	}
	if g := found[0].GetEnvoyExtAuthzGrpc(); g != nil {
		host, ok := providerHost(snap, g.GetService(), g.GetPort())
		f := AuthzFilter{ClusterName: Name(g.GetPort(), "", host), Authority: string(host)}
		return newProvider(f, g.GetFailOpen(), g.GetTimeout(), true), ok && validStatus(g.GetStatusOnError())
	}
	h := found[0].GetEnvoyExtAuthzHttp()
	host, ok := providerHost(snap, h.GetService(), h.GetPort())
	f := AuthzFilter{ClusterName: Name(h.GetPort(), "", host), URI: "http://" + string(host), PathPrefix: h.GetPathPrefix()}
	return newProvider(f, h.GetFailOpen(), h.GetTimeout(), false), ok && validHTTP(h)
}

// validHTTP checks what Istio does: the path, and that no list of headers is all
// of them.
func validHTTP(h *meshconfig.MeshConfig_ExtensionProvider_EnvoyExternalAuthorizationHttpProvider) bool {
	headers := slices.Concat(
		h.GetIncludeRequestHeadersInCheck(), h.GetIncludeHeadersInCheck(), //nolint:staticcheck // mesh configurations have the old field still
		h.GetHeadersToDownstreamOnDeny(), h.GetHeadersToDownstreamOnAllow(), h.GetHeadersToUpstreamOnAllow(),
	)
	return validStatus(h.GetStatusOnError()) && !slices.Contains(headers, "*") &&
		(h.GetPathPrefix() == "" || strings.HasPrefix(h.GetPathPrefix(), "/"))
}

func newProvider(f AuthzFilter, open bool, timeout *durationpb.Duration, tcp bool) provider {
	f.FailureModeAllow, f.TransportAPIVersion, f.Timeout = open, apiV3, durationText(timeout)
	h := f
	h.Filter, h.FilterEnabledMetadata = httpAuthz, matcher(httpRBAC)
	p := provider{http: &h}
	if tcp {
		t := f
		t.Filter, t.FilterEnabledMetadata = tcpAuthz, matcher(tcpRBAC)
		p.tcp = &t
	}
	return p
}

func matcher(filter string) *MetadataMatcher {
	m := &MetadataMatcher{Filter: filter, Path: []MetadataKey{{shadowPolicyKey}}}
	m.Value.StringMatch.Prefix = authzPrefix
	return m
}

// providerHost finds the service of a provider, "host" or "namespace/host". What
// the proxy may see does not matter, nor whether the port is one of the service's.
func providerHost(snap *state.Snapshot, service string, port uint32) (model.Hostname, bool) {
	namespace, host, qualified := strings.Cut(service, "/")
	if !qualified {
		namespace, host = "", service
	}
	found := 0
	for svc := range snap.ServicesOf(model.Hostname(host)) {
		if svc.Definition() != nil && (!qualified || svc.Key.Namespace == namespace) {
			found++
		}
	}
	return model.Hostname(host), found == 1 && port > 0 && port <= 65535
}

// validStatus tells whether Envoy knows the status.
func validStatus(status string) bool {
	if status == "" {
		return true
	}
	n, err := strconv.ParseInt(status, 10, 32)
	_, known := typev3.StatusCode_name[int32(n)]
	return err == nil && known
}

// durationText gives the form of protobuf's JSON; Istio waits 600 s if nothing is
// said.
func durationText(d *durationpb.Duration) string {
	if d == nil {
		return "600s"
	}
	text := strconv.FormatInt(d.GetSeconds(), 10)
	switch n := d.GetNanos(); {
	case n == 0:
	case n%1_000_000 == 0:
		text += fmt.Sprintf(".%03d", n/1_000_000)
	case n%1_000 == 0:
		text += fmt.Sprintf(".%06d", n/1_000)
	default:
		text += fmt.Sprintf(".%09d", n)
	}
	return text + "s"
}
