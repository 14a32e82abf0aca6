package cds_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	meshconfig "istio.io/api/mesh/v1alpha1"
	networking "istio.io/api/networking/v1alpha3"
	security "istio.io/api/security/v1beta1"
	typev1beta1 "istio.io/api/type/v1beta1"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"
	securityv1 "istio.io/client-go/pkg/apis/security/v1"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

func grpcProvider(name, service string, port uint32) *meshconfig.MeshConfig_ExtensionProvider {
	return &meshconfig.MeshConfig_ExtensionProvider{Name: name, Provider: &meshconfig.MeshConfig_ExtensionProvider_EnvoyExtAuthzGrpc{
		EnvoyExtAuthzGrpc: &meshconfig.MeshConfig_ExtensionProvider_EnvoyExternalAuthorizationGrpcProvider{Service: service, Port: port},
	}}
}

func providers(list ...*meshconfig.MeshConfig_ExtensionProvider) *state.Mesh {
	m := state.DefaultMesh()
	m.Config = &meshconfig.MeshConfig{ExtensionProviders: list}
	return m
}

func authz(name, namespace string, action security.AuthorizationPolicy_Action, change ...func(*securityv1.AuthorizationPolicy)) *securityv1.AuthorizationPolicy {
	p := &securityv1.AuthorizationPolicy{ObjectMeta: meta(name, namespace), Spec: security.AuthorizationPolicy{
		Action: action, Rules: []*security.Rule{{}},
	}}
	if action == security.AuthorizationPolicy_CUSTOM {
		p.Spec.ActionDetail = &security.AuthorizationPolicy_Provider{Provider: &security.AuthorizationPolicy_ExtensionProvider{Name: "ext"}}
	}
	for _, c := range change {
		c(p)
	}
	return p
}

// inShort writes filters as "filter cluster policies", one per line.
func inShort(filters []cds.AuthzFilter) string {
	var out []string
	for _, f := range filters {
		line := []string{strings.TrimPrefix(f.Filter, "envoy.filters.")}
		if f.ClusterName != "" {
			line = append(line, f.ClusterName)
		}
		for mark, r := range map[string]*cds.AuthzRules{"rules": f.Rules, "shadow": f.ShadowRules} {
			if r != nil {
				line = append(line, mark, r.Action, strings.Join(r.Policies, ","))
			}
		}
		out = append(out, strings.Join(line, " "))
	}
	return strings.Join(out, "\n")
}

// A provider whose service is not exactly one denies what the policies speak of;
// visibility, scope and the port's existence do not count (fact 30).
func TestExtAuthzProvider(t *testing.T) {
	const custom = security.AuthorizationPolicy_CUSTOM
	const works = "http.ext_authz outbound|9000||authz.auth.svc.cluster.local\nhttp.rbac shadow DENY istio-ext-authz-ns[client]-policy[custom]-rule[0]\n" +
		"network.ext_authz outbound|9000||authz.auth.svc.cluster.local\nnetwork.rbac shadow DENY istio-ext-authz-ns[client]-policy[custom]-rule[0]"
	const bad = "http.rbac rules DENY istio-ext-authz-ns[client]-policy[custom]-rule[0]-deny-due-to-bad-CUSTOM-action\n" +
		"network.rbac rules DENY istio-ext-authz-ns[client]-policy[custom]-rule[0]-deny-due-to-bad-CUSTOM-action"
	authzService := func() *model.Service { return kube("authz", "auth") }
	another := entry("authz.auth.svc.cluster.local", "other", model.ClientSideLB)
	tests := []struct {
		name    string
		service string
		objects []any
		want    string
	}{
		{"full name", "authz.auth.svc.cluster.local", []any{authzService()}, works},
		{"qualified", "auth/authz.auth.svc.cluster.local", []any{authzService()}, works},
		{"qualified, ambiguous host", "auth/authz.auth.svc.cluster.local", []any{authzService(), another}, works},
		{"private", "authz.auth.svc.cluster.local", []any{own(authzService())}, works},
		{"missing", "authz.auth.svc.cluster.local", nil, bad},
		{"ambiguous", "authz.auth.svc.cluster.local", []any{authzService(), another}, bad},
		{"wrong namespace", "shop/authz.auth.svc.cluster.local", []any{authzService()}, bad},
		{"short name", "authz", []any{authzService()}, bad},
		{"no name", "", []any{authzService()}, bad},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			snap := snapshot(t, append(tt.objects, providers(grpcProvider("ext", tt.service, 9000)), authz("custom", "client", custom))...)
			if got := inShort(cds.ExtAuthz(snap, sidecar())); got != tt.want {
				t.Errorf("filters\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
	for name, m := range map[string]*state.Mesh{
		"unknown provider": providers(grpcProvider("other", "authz.auth.svc.cluster.local", 9000)),
		"no port":          providers(grpcProvider("ext", "authz.auth.svc.cluster.local", 0)),
		"another kind":     providers(&meshconfig.MeshConfig_ExtensionProvider{Name: "ext"}),
	} {
		if got := inShort(cds.ExtAuthz(snapshot(t, m, authzService(), authz("custom", "client", custom)), sidecar())); got != bad {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

func TestExtAuthzPolicies(t *testing.T) {
	const (
		allow, deny  = security.AuthorizationPolicy_ALLOW, security.AuthorizationPolicy_DENY
		audit, other = security.AuthorizationPolicy_AUDIT, security.AuthorizationPolicy_CUSTOM
	)
	forApp := func(app string) func(*securityv1.AuthorizationPolicy) {
		return func(p *securityv1.AuthorizationPolicy) {
			p.Spec.Selector = &typev1beta1.WorkloadSelector{MatchLabels: map[string]string{"app": app}}
		}
	}
	provider2 := func(p *securityv1.AuthorizationPolicy) {
		p.Spec.ActionDetail = &security.AuthorizationPolicy_Provider{Provider: &security.AuthorizationPolicy_ExtensionProvider{Name: "ext2"}}
	}
	paths := func(p *securityv1.AuthorizationPolicy) {
		p.Spec.Rules = append(p.Spec.Rules, &security.Rule{To: []*security.Rule_To{{Operation: &security.Operation{Paths: []string{"/x"}}}}})
	}
	none := func(p *securityv1.AuthorizationPolicy) { p.Spec.Rules = nil }
	dry := func(p *securityv1.AuthorizationPolicy) { p.Annotations = map[string]string{"istio.io/dry-run": "true"} }
	gatewayOnly := func(p *securityv1.AuthorizationPolicy) {
		p.Spec.TargetRefs = []*typev1beta1.PolicyTargetReference{{Kind: "Gateway", Name: "gw"}}
	}
	tests := []struct {
		name string
		list []any
		want string
	}{
		{"none", nil, ""},
		{"of others", []any{authz("a", "client", other, forApp("x")), authz("b", "shop", other), authz("c", "client", other, gatewayOnly)}, ""},
		{
			"two providers",
			[]any{authz("a", "client", other), authz("b", "istio-system", other, provider2)},
			"http.rbac rules DENY istio-ext-authz-ns[client]-policy[a]-rule[0]-deny-due-to-bad-CUSTOM-action,istio-ext-authz-ns[istio-system]-policy[b]-rule[0]-deny-due-to-bad-CUSTOM-action\n" +
				"network.rbac rules DENY istio-ext-authz-ns[client]-policy[a]-rule[0]-deny-due-to-bad-CUSTOM-action,istio-ext-authz-ns[istio-system]-policy[b]-rule[0]-deny-due-to-bad-CUSTOM-action",
		},
		{"no rules", []any{authz("a", "client", deny, none)}, "http.rbac rules DENY ns[client]-policy[a]-rule[0]\nnetwork.rbac rules DENY ns[client]-policy[a]-rule[0]"},
		{"TCP cannot allow paths", []any{authz("a", "client", allow, paths)}, "http.rbac rules ALLOW ns[client]-policy[a]-rule[0],ns[client]-policy[a]-rule[1]\nnetwork.rbac rules ALLOW ns[client]-policy[a]-rule[0]"},
		{"TCP denies paths", []any{authz("a", "client", deny, paths)}, "http.rbac rules DENY ns[client]-policy[a]-rule[0],ns[client]-policy[a]-rule[1]\nnetwork.rbac rules DENY ns[client]-policy[a]-rule[0],ns[client]-policy[a]-rule[1]"},
		{"dry run", []any{authz("a", "client", deny, dry)}, "http.rbac shadow DENY ns[client]-policy[a]-rule[0]\nnetwork.rbac shadow DENY ns[client]-policy[a]-rule[0]"},
		{
			"dry run of an external one",
			[]any{authz("a", "client", other, dry)},
			"http.ext_authz outbound|9000||authz.auth.svc.cluster.local\nhttp.rbac\nnetwork.ext_authz outbound|9000||authz.auth.svc.cluster.local\nnetwork.rbac",
		},
		{"audit", []any{authz("a", "client", audit)}, "http.rbac rules LOG ns[client]-policy[a]-rule[0]\nnetwork.rbac rules LOG ns[client]-policy[a]-rule[0]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := providers(grpcProvider("ext", "authz.auth.svc.cluster.local", 9000), grpcProvider("ext2", "authz.auth.svc.cluster.local", 9000))
			if got := inShort(cds.ExtAuthz(snapshot(t, append(tt.list, m, kube("authz", "auth"))...), sidecar())); got != tt.want {
				t.Errorf("filters\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestExtAuthzSettings(t *testing.T) {
	type settings = meshconfig.MeshConfig_ExtensionProvider_EnvoyExternalAuthorizationHttpProvider
	provider := func(s *settings) *meshconfig.MeshConfig_ExtensionProvider {
		s.Service, s.Port = "authz.auth.svc.cluster.local", 8000
		return &meshconfig.MeshConfig_ExtensionProvider{Name: "ext", Provider: &meshconfig.MeshConfig_ExtensionProvider_EnvoyExtAuthzHttp{EnvoyExtAuthzHttp: s}}
	}
	for name, c := range map[string]struct {
		list  []*meshconfig.MeshConfig_ExtensionProvider
		works bool
	}{
		"headers":         {[]*meshconfig.MeshConfig_ExtensionProvider{provider(&settings{HeadersToUpstreamOnAllow: []string{"x-*"}, StatusOnError: "503"})}, true},
		"all headers":     {[]*meshconfig.MeshConfig_ExtensionProvider{provider(&settings{HeadersToDownstreamOnDeny: []string{"x-a", "*"}})}, false},
		"unknown status":  {[]*meshconfig.MeshConfig_ExtensionProvider{provider(&settings{StatusOnError: "555"})}, false},
		"no status":       {[]*meshconfig.MeshConfig_ExtensionProvider{provider(&settings{StatusOnError: "busy"})}, false},
		"relative path":   {[]*meshconfig.MeshConfig_ExtensionProvider{provider(&settings{PathPrefix: "check"})}, false},
		"twice":           {[]*meshconfig.MeshConfig_ExtensionProvider{provider(&settings{}), provider(&settings{})}, false},
		"beside a tracer": {[]*meshconfig.MeshConfig_ExtensionProvider{{Name: "ext"}, provider(&settings{})}, true},
	} {
		snap := snapshot(t, providers(c.list...), kube("authz", "auth"), authz("custom", "client", security.AuthorizationPolicy_CUSTOM))
		if got := inShort(cds.ExtAuthz(snap, sidecar())); strings.Contains(got, "ext_authz outbound") != c.works {
			t.Errorf("%s: works is to be %v, filters\n%s", name, c.works, got)
		}
	}
}

// The prefix follows the rules that are only tried; without any it is that of
// ALLOW.
func TestExtAuthzPrefixOfPlainPolicies(t *testing.T) {
	dry := func(p *securityv1.AuthorizationPolicy) { p.Annotations = map[string]string{"istio.io/dry-run": "true"} }
	for _, c := range []struct {
		policy *securityv1.AuthorizationPolicy
		want   string
	}{
		{authz("a", "client", security.AuthorizationPolicy_ALLOW), "istio_dry_run_allow_"},
		{authz("a", "client", security.AuthorizationPolicy_DENY), "istio_dry_run_allow_"},
		{authz("a", "client", security.AuthorizationPolicy_DENY, dry), "istio_dry_run_deny_"},
		{authz("a", "client", security.AuthorizationPolicy_AUDIT), "istio_dry_run_allow_"},
		{authz("a", "client", security.AuthorizationPolicy_AUDIT, dry), ""},
	} {
		for _, f := range cds.ExtAuthz(snapshot(t, c.policy), sidecar()) {
			if f.ShadowRulesStatPrefix != c.want {
				t.Errorf("prefix of %s is %q, want %q", c.policy.Spec.GetAction(), f.ShadowRulesStatPrefix, c.want)
			}
		}
	}
}

func TestExtAuthzJSON(t *testing.T) {
	m := providers(&meshconfig.MeshConfig_ExtensionProvider{Name: "ext", Provider: &meshconfig.MeshConfig_ExtensionProvider_EnvoyExtAuthzHttp{
		EnvoyExtAuthzHttp: &meshconfig.MeshConfig_ExtensionProvider_EnvoyExternalAuthorizationHttpProvider{
			Service: "authz.auth.svc.cluster.local", Port: 8000, PathPrefix: "/check", FailOpen: true, Timeout: durationpb.New(1500 * time.Millisecond),
		},
	}})
	snap := snapshot(t, m, kube("authz", "auth"), authz("custom", "client", security.AuthorizationPolicy_CUSTOM))
	got, err := json.Marshal(cds.ExtAuthz(snap, sidecar()))
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"filter":"envoy.filters.http.ext_authz","type":"envoy.extensions.filters.http.ext_authz.v3.ExtAuthz","listener":"virtualInbound",` +
		`"clusterName":"outbound|8000||authz.auth.svc.cluster.local","uri":"http://authz.auth.svc.cluster.local","pathPrefix":"/check","failureModeAllow":true,` +
		`"filterEnabledMetadata":{"filter":"envoy.filters.http.rbac","path":[{"key":"istio_ext_authz_shadow_effective_policy_id"}],"value":{"stringMatch":{"prefix":"istio-ext-authz"}}},` +
		`"timeout":"1.500s","transportApiVersion":"V3"},` +
		`{"filter":"envoy.filters.http.rbac","type":"envoy.extensions.filters.http.rbac.v3.RBAC","listener":"virtualInbound",` +
		`"shadowRules":{"action":"DENY","policies":["istio-ext-authz-ns[client]-policy[custom]-rule[0]"]},"shadowRulesStatPrefix":"istio_ext_authz_"}]`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A router authorizes on the listeners of its Gateways, on the target ports of its
// own Service.
func TestExtAuthzOfRouter(t *testing.T) {
	gw := &networkingv1.Gateway{ObjectMeta: meta("gw", "edge"), Spec: networking.Gateway{
		Selector: map[string]string{"app": "client"},
		Servers: []*networking.Server{
			{Port: &networking.Port{Number: 80, Protocol: "HTTP"}},
			{Port: &networking.Port{Number: 90, Protocol: "HTTP2"}},
			{Port: &networking.Port{Number: 70, Protocol: "TCP"}},
			{Port: &networking.Port{Number: 60, Protocol: "TLS"}, Tls: &networking.ServerTLSSettings{Mode: networking.ServerTLSSettings_AUTO_PASSTHROUGH}},
		},
	}}
	m := providers(grpcProvider("ext", "authz.auth.svc.cluster.local", 9000))
	snap := snapshot(t, gw, m, kube("authz", "auth"), selecting(kube("gw", "client"), "app", "client"), authz("custom", "client", security.AuthorizationPolicy_CUSTOM))
	var got []string
	for _, f := range cds.ExtAuthz(snap, sidecar(router)) {
		got = append(got, f.Listener+" "+f.Filter)
	}
	want := "0.0.0.0_60 envoy.filters.network.ext_authz, 0.0.0.0_60 envoy.filters.network.rbac, " +
		"0.0.0.0_8080 envoy.filters.http.ext_authz, 0.0.0.0_8080 envoy.filters.http.rbac, 0.0.0.0_90 envoy.filters.http.ext_authz, 0.0.0.0_90 envoy.filters.http.rbac"
	if strings.Join(got, ", ") != want {
		t.Errorf("filters %v", got)
	}
}

// A rule with a condition on something unknown is left out; one to allow also where
// a port or an address is none, or where it speaks of HTTP on TCP.
func TestRulesThatCannotBe(t *testing.T) {
	when := func(key, value string) *security.Rule {
		return &security.Rule{When: []*security.Condition{{Key: key, Values: []string{value}}}}
	}
	to := func(o *security.Operation) *security.Rule {
		return &security.Rule{To: []*security.Rule_To{{Operation: o}}}
	}
	from := func(s *security.Source) *security.Rule {
		return &security.Rule{From: []*security.Rule_From{{Source: s}}}
	}
	tests := []struct {
		name             string
		rule             *security.Rule
		deny, allow, tcp bool // whether the rule is in the filter; tcp: to allow connections
	}{
		{"unknown attribute", when("wrong.key", "x"), false, false, false},
		{"unknown part of a request", when("request.unknown", "x"), false, false, false},
		{"header", when("request.headers[x]", "x"), true, true, false},
		{"port", when("destination.port", "80"), true, true, true},
		{"no port", when("destination.port", "http"), true, false, false},
		{"no port of an operation", to(&security.Operation{Ports: []string{"65536"}}), true, false, false},
		{"range", from(&security.Source{IpBlocks: []string{"10.0.0.0/8", "::1"}}), true, true, true},
		{"no range", from(&security.Source{NotRemoteIpBlocks: []string{"10.0.0.0/33"}}), true, false, false},
		{"no address", when("source.ip", "x"), true, false, false},
		{"path", to(&security.Operation{Paths: []string{"/"}}), true, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := func(p *securityv1.AuthorizationPolicy) { p.Spec.Rules = []*security.Rule{tt.rule} }
			have := func(a security.AuthorizationPolicy_Action) (out []bool) {
				for _, f := range cds.ExtAuthz(snapshot(t, authz("p", "client", a, set)), sidecar()) {
					out = append(out, len(f.Rules.Policies) > 0)
				}
				return out
			}
			if got, want := have(security.AuthorizationPolicy_DENY), []bool{tt.deny, tt.deny}; !slices.Equal(got, want) {
				t.Errorf("to deny: in the filters for HTTP and TCP %v, want %v", got, want)
			}
			if got, want := have(security.AuthorizationPolicy_ALLOW), []bool{tt.allow, tt.tcp}; !slices.Equal(got, want) {
				t.Errorf("to allow: in the filters for HTTP and TCP %v, want %v", got, want)
			}
		})
	}
}
