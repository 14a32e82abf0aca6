package scope_test

import (
	"testing"

	meshconfig "istio.io/api/mesh/v1alpha1"
	security "istio.io/api/security/v1beta1"
	typev1beta1 "istio.io/api/type/v1beta1"
	securityv1 "istio.io/client-go/pkg/apis/security/v1"

	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
)

// kube-system, the API server and the control plane are cluster-local unless the
// mesh says otherwise; the most specific setting holds (fact 38).
func TestClusterLocal(t *testing.T) {
	settings := func(local bool, hosts ...string) *meshconfig.MeshConfig_ServiceSettings {
		return &meshconfig.MeshConfig_ServiceSettings{Hosts: hosts, Settings: &meshconfig.MeshConfig_ServiceSettings_Settings{ClusterLocal: local}}
	}
	tests := []struct {
		name     string
		settings []*meshconfig.MeshConfig_ServiceSettings
		want     map[string]bool
	}{
		{"default", nil, map[string]bool{"dns.kube-system": true, "kubernetes.default": true, "istiod.istio-system": true, "web.shop": false}},
		{"namespace with exception", []*meshconfig.MeshConfig_ServiceSettings{
			settings(true, "*.shop.svc.cluster.local"), settings(false, "web.shop.svc.cluster.local"),
		}, map[string]bool{"web.shop": false, "api.shop": true, "dns.kube-system": true}},
		{
			"default taken back",
			[]*meshconfig.MeshConfig_ServiceSettings{settings(false, "*.kube-system.svc.cluster.local")},
			map[string]bool{"dns.kube-system": false, "kubernetes.default": true},
		},
		{
			"one host takes a default back",
			[]*meshconfig.MeshConfig_ServiceSettings{settings(false, "dns.kube-system.svc.cluster.local")},
			map[string]bool{"dns.kube-system": false, "other.kube-system": false},
		},
		{"everything", []*meshconfig.MeshConfig_ServiceSettings{settings(true, "*")}, map[string]bool{"web.shop": true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			snap := snapshot(t, mesh(func(c *meshconfig.MeshConfig) { c.ServiceSettings = tt.settings }),
				kube("dns", "kube-system"), kube("other", "kube-system"), kube("kubernetes", "default"), kube("istiod", "istio-system"), kube("web", "shop"), kube("api", "shop"))
			s := scope.For(snap, client("client"))
			for host, want := range tt.want {
				if got := s.Import(model.Hostname(host + ".svc.cluster.local")).ClusterLocal; got != want {
					t.Errorf("%s is cluster-local: %v", host, got)
				}
			}
		})
	}
}

func peer(name, namespace string, second int, mode security.PeerAuthentication_MutualTLS_Mode, change ...func(*security.PeerAuthentication)) *securityv1.PeerAuthentication {
	p := &securityv1.PeerAuthentication{ObjectMeta: meta(name, namespace, second), Spec: security.PeerAuthentication{
		Mtls: &security.PeerAuthentication_MutualTLS{Mode: mode},
	}}
	for _, c := range change {
		c(&p.Spec)
	}
	return p
}

// Workload, namespace and mesh inherit from each other; the oldest of a kind
// counts, and only DISABLE has a meaning for clients.
func TestPeerAuthentications(t *testing.T) {
	const (
		disable = security.PeerAuthentication_MutualTLS_DISABLE
		strict  = security.PeerAuthentication_MutualTLS_STRICT
		unset   = security.PeerAuthentication_MutualTLS_UNSET
	)
	app := func(p *security.PeerAuthentication) {
		p.Selector = &typev1beta1.WorkloadSelector{MatchLabels: map[string]string{"app": "a"}}
	}
	port := func(n uint32, m security.PeerAuthentication_MutualTLS_Mode) func(*security.PeerAuthentication) {
		return func(p *security.PeerAuthentication) {
			p.PortLevelMtls = map[uint32]*security.PeerAuthentication_MutualTLS{n: {Mode: m}}
		}
	}
	all := eds.NewPeerAuth([]eds.PeerRule{{Disable: true}})
	a := model.Labels{"app": "a"}
	tests := []struct {
		name string
		list []any
		want eds.PeerAuth
	}{
		{"none", nil, ""},
		{"strict is nothing", []any{peer("p", "shop", 0, strict)}, ""},
		{"namespace", []any{peer("p", "shop", 0, disable)}, all},
		{"mesh", []any{peer("p", "istio-system", 0, disable)}, all},
		{"namespace over mesh", []any{peer("p", "istio-system", 0, disable), peer("n", "shop", 0, strict)}, ""},
		{"namespace inherits", []any{peer("p", "istio-system", 0, disable), peer("n", "shop", 0, unset)}, all},
		{"oldest", []any{peer("young", "shop", 5, disable), peer("old", "shop", 1, strict)}, ""},
		{"of others", []any{peer("p", "other", 0, disable)}, ""},
		{"root's selector is for nobody", []any{peer("p", "istio-system", 0, disable, app)}, ""},
		{"workload", []any{peer("p", "shop", 0, disable, app)}, eds.NewPeerAuth([]eds.PeerRule{{Selector: a, Disable: true}, {}})},
		{
			"workload inherits",
			[]any{peer("n", "shop", 0, disable), peer("p", "shop", 0, unset, app)},
			eds.NewPeerAuth([]eds.PeerRule{{Selector: a, Disable: true}, {Disable: true}}),
		},
		{
			"port",
			[]any{peer("p", "shop", 0, strict, app, port(9090, disable))},
			eds.NewPeerAuth([]eds.PeerRule{{Selector: a, Ports: map[string]bool{"9090": true}}, {}}),
		},
		{
			"port inherits",
			[]any{peer("p", "shop", 0, disable, app, port(9090, unset))},
			eds.NewPeerAuth([]eds.PeerRule{{Selector: a, Disable: true, Ports: map[string]bool{"9090": true}}, {}}),
		},
	}
	for _, tt := range tests {
		if got := scope.For(snapshot(t, tt.list...), client("client")).PeerAuth("shop"); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
