package scope_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	meshconfig "istio.io/api/mesh/v1alpha1"
	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

func mesh(change func(*meshconfig.MeshConfig)) *state.Mesh {
	m := state.DefaultMesh()
	m.Config, _ = proto.Clone(m.Config).(*meshconfig.MeshConfig)
	change(m.Config)
	return m
}

// exportTo as written decides; "~" hides even from the own namespace (fact 16).
func TestExportTo(t *testing.T) {
	tests := []struct {
		to             []string
		own, named, no bool // visible in its own, a named and another namespace
	}{
		{nil, true, true, true},
		{[]string{"*"}, true, true, true},
		{[]string{"."}, true, false, false},
		{[]string{"~"}, false, false, false},
		{[]string{"named"}, false, true, false},
		{[]string{".", "named"}, true, true, false},
		{[]string{"shop", "named"}, true, true, false},
		{[]string{"*", "~"}, true, true, true},
		{[]string{"~", "named"}, false, false, false},
	}
	for _, tt := range tests {
		snap := snapshot(t, exported(kube("web", "shop"), tt.to...))
		for ns, want := range map[string]bool{"shop": tt.own, "named": tt.named, "other": tt.no} {
			s := scope.For(snap, client(ns))
			if got := len(s.Imports) == 1; got != want {
				t.Errorf("exportTo %v: visible in %s is %v", tt.to, ns, got)
			}
			if !want && s.Others("web.shop.svc.cluster.local")[0].Why != scope.WhyNotExported {
				t.Errorf("exportTo %v: excluded in %s as %s", tt.to, ns, excluded(s))
			}
		}
	}
}

// Of the mesh's default only "*" and "." work; a namespace there hides services
// from everybody (fact 17).
func TestDefaultServiceExportTo(t *testing.T) {
	tests := []struct {
		byDefault  []string
		own, other bool
	}{
		{nil, true, true},
		{[]string{"*"}, true, true},
		{[]string{"."}, true, false},
		{[]string{"other"}, false, false},
	}
	for _, tt := range tests {
		m := mesh(func(c *meshconfig.MeshConfig) { c.DefaultServiceExportTo = tt.byDefault })
		snap := snapshot(t, m, kube("web", "shop"))
		for ns, want := range map[string]bool{"shop": tt.own, "other": tt.other} {
			if got := scope.For(snap, client(ns)).Import("web.shop.svc.cluster.local") != nil; got != want {
				t.Errorf("default %v: visible in %s is %v", tt.byDefault, ns, got)
			}
		}
	}
}

// One definition per hostname: of the client's own namespace, else of
// Kubernetes, else the oldest (fact 26).
func TestWhoWinsAHostname(t *testing.T) {
	web := kube("web", "shop")
	host := string(web.Key.Hostname)
	tests := []struct {
		name    string
		objects []any
		imports string
		others  string
		why     scope.Why
	}{
		{"only one", []any{web}, "shop/web.shop:80", "", scope.WhyOnly},
		{"own before Kubernetes", []any{web, entry(host, "client", 1)}, "client/web.shop:80", "shop/web.shop=other-namespace-won", scope.WhyOwnNamespace},
		{"Kubernetes before older", []any{entry(host, "a", -9), web}, "shop/web.shop:80", "a/web.shop=other-namespace-won", scope.WhyKubernetes},
		{"oldest", []any{entry("x.example", "b", 1), entry("x.example", "a", 2)}, "b/x.example:80", "a/x.example=other-namespace-won", scope.WhyOldest},
		{"private before public", []any{entry("x.example", "b", 1), exported(entry("x.example", "client", 2), ".")}, "client/x.example:80", "b/x.example=other-namespace-won", scope.WhyOwnNamespace},
		{"exported to it before public", []any{entry("x.example", "b", 1), exported(entry("x.example", "a", 2), "client")}, "a/x.example:80", "b/x.example=other-namespace-won", scope.WhyOldest},
		{"what it does not see cannot win", []any{exported(entry("x.example", "b", 1), "."), entry("x.example", "a", 2)}, "a/x.example:80", "b/x.example=not-exported", scope.WhyOnly},
		{"Kubernetes in one namespace (fact 27)", []any{entry(host, "shop", -9, 81), web}, "shop/web.shop:80", "shop/web.shop=kubernetes-won", scope.WhyOldest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := scope.For(snapshot(t, tt.objects...), client("client"))
			expectScope(t, s, tt.imports, tt.others)
			if tt.name != "Kubernetes in one namespace (fact 27)" && s.Imports[0].Why != tt.why {
				t.Errorf("why %v, want %v", s.Imports[0].Why, tt.why)
			}
			for _, e := range s.Excluded {
				if e.Why != scope.WhyNotExported && e.By != s.Imports[0].Definition {
					t.Errorf("%s lost to %v", excluded(s), e.By)
				}
			}
		})
	}
}

// Ports merge between ServiceEntries of one namespace only; for one number the
// older's holds (fact 26).
func TestPortsMerge(t *testing.T) {
	s := scope.For(snapshot(t, entry("x.example", "a", 1, 80, 443), entry("x.example", "a", 2, 80, 90), entry("x.example", "b", 3, 70)), client("client"))
	expectScope(t, s, "a/x.example:80,443,90", "a/x.example=merged b/x.example=other-namespace-won")

	other := entry("x.example", "a", 2, 90)
	other.Resolution = model.DNSLB
	s = scope.For(snapshot(t, entry("x.example", "a", 1), other), client("client"))
	expectScope(t, s, "a/x.example:80", "a/x.example=older-won")
}

// A router takes the first of what it sees; Sidecars do not apply to it.
func TestRouter(t *testing.T) {
	snap := snapshot(t, egress("none", "edge", 0, "~/*"), kube("web", "shop"), exported(kube("priv", "shop"), "."), entry("x.example", "a", 1), entry("x.example", "edge", 2))
	s := scope.For(snap, router("edge"))
	expectScope(t, s, "shop/web.shop:80 a/x.example:80", "shop/priv.shop=not-exported edge/x.example=older-won")
	s = scope.For(snapshot(t, entry("x.example", "a", 1, 80), entry("x.example", "edge", 2, 90), entry("x.example", "a", 3, 70)), router("edge"))
	expectScope(t, s, "a/x.example:80,70", "a/x.example=merged edge/x.example=older-won")
	if s.Sidecar != nil || s.Key.Sidecar != (model.ObjectKey{}) {
		t.Errorf("a Sidecar applies to a router: %v", s.Key)
	}
}

func TestGateways(t *testing.T) {
	gw := func(mode networking.ServerTLSSettings_TLSmode) *networkingv1.Gateway {
		return &networkingv1.Gateway{ObjectMeta: meta("gw", "edge", 0), Spec: networking.Gateway{
			Selector: map[string]string{"app": "gw"},
			Servers: []*networking.Server{
				{Port: &networking.Port{Number: 80, Protocol: "HTTP"}},
				{Port: &networking.Port{Number: 443, Protocol: "HTTPS"}, Tls: &networking.ServerTLSSettings{Mode: mode}},
				{Port: &networking.Port{Number: 9000, Protocol: "TCP"}},
			},
		}}
	}
	p := router("edge")
	p.Labels["app"] = "gw"
	for mode, passes := range map[networking.ServerTLSSettings_TLSmode]bool{
		networking.ServerTLSSettings_AUTO_PASSTHROUGH: true, networking.ServerTLSSettings_SIMPLE: false,
	} {
		snap := snapshot(t, gw(mode))
		if got := scope.For(snap, p).PassesThrough(p); got != passes {
			t.Errorf("%v: passes through is %v", mode, got)
		}
		want := []scope.GatewayListener{{Port: 80, HTTP: true}, {Port: 443, HTTP: !passes, TCP: passes}}
		if got := scope.GatewayListeners(snap, p); !slices.Equal(got, want) {
			t.Errorf("%v: listeners %+v", mode, got)
		}
	}
	other := router("edge")
	if snap := snapshot(t, gw(networking.ServerTLSSettings_AUTO_PASSTHROUGH)); scope.For(snap, other).PassesThrough(other) {
		t.Error("a Gateway for others counts")
	}
}
