package cds_test

import (
	"testing"

	"google.golang.org/protobuf/types/known/wrapperspb"
	meshconfig "istio.io/api/mesh/v1alpha1"
	networking "istio.io/api/networking/v1alpha3"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

const web = "outbound|80||web.shop.svc.cluster.local"

func viewOf(t *testing.T, p *model.Proxy, objects ...any) eds.View {
	t.Helper()
	return find(t, cds.Build(snapshot(t, objects...), p), web).View
}

// elsewhere is a proxy that has nothing in common with sidecar() but the cluster.
func elsewhere(p *model.Proxy) {
	p.ID, p.Namespace, p.Node, p.Network, p.Locality = "other-0.other", "other", "n2", "net2", model.ParseLocality("r2/z2")
	p.Labels, p.IPs = model.Labels{"app": "other", model.LabelNetwork: "net2"}, []string{"10.9.0.9"}
}

// Proxies whose differences do not matter to a service have one View; it can be
// the key of a map.
func TestViewsAreShared(t *testing.T) {
	outlier := &networking.TrafficPolicy{OutlierDetection: &networking.OutlierDetection{}}
	local := kube("web", "shop")
	local.NodeLocal = true
	near := kube("web", "shop")
	near.TrafficDistribution = model.DistributionPreferSameZone
	tests := []struct {
		name    string
		objects []any
		shared  bool
	}{
		{"plain", []any{kube("web", "shop")}, true},
		{"rule without outlier detection", []any{kube("web", "shop"), rule("web", &networking.TrafficPolicy{})}, true},
		{"outlier detection", []any{kube("web", "shop"), rule("web", outlier)}, false},
		{"networks", []any{kube("web", "shop"), []state.Gateway{{Network: "net2", Addr: "203.0.113.1", Port: 15443}}}, false},
		{"node local", []any{local}, false},
		{"traffic distribution", []any{near}, false},
		{"cluster local, same cluster", []any{kube("web", "shop"), clusterLocal()}, true},
	}
	for _, tt := range tests {
		seen := map[eds.View]bool{viewOf(t, sidecar(), tt.objects...): true}
		if got := seen[viewOf(t, sidecar(elsewhere), tt.objects...)]; got != tt.shared {
			t.Errorf("%s: shared is %v", tt.name, got)
		}
	}
}

func clusterLocal() *state.Mesh {
	m := state.DefaultMesh()
	m.Config = &meshconfig.MeshConfig{ServiceSettings: []*meshconfig.MeshConfig_ServiceSettings{{
		Hosts: []string{"*.shop.svc.cluster.local"}, Settings: &meshconfig.MeshConfig_ServiceSettings_Settings{ClusterLocal: true},
	}}}
	return m
}

func locality(s *networking.LocalityLoadBalancerSetting) *networking.LoadBalancerSettings {
	return &networking.LoadBalancerSettings{LocalityLbSetting: s}
}

// Which locality setting holds, and when it has an effect (facts 31, 32, 34).
func TestLocality(t *testing.T) {
	type setting = networking.LocalityLoadBalancerSetting
	at := model.ParseLocality("r1/z1")
	proxy := func(p *model.Proxy) { p.Locality = at }
	od := &networking.OutlierDetection{}
	meshOf := func(s *setting) *state.Mesh {
		m := state.DefaultMesh()
		m.Config = &meshconfig.MeshConfig{LocalityLbSetting: s}
		return m
	}
	policy := func(s *setting, o *networking.OutlierDetection) *networking.TrafficPolicy {
		return &networking.TrafficPolicy{LoadBalancer: locality(s), OutlierDetection: o}
	}
	distribute := &setting{Distribute: []*networking.LocalityLoadBalancerSetting_Distribute{
		{From: "r9/*", To: map[string]uint32{"r9": 100}}, {From: "r1/z1/*", To: map[string]uint32{"r1/*": 80, "r2": 20}},
	}}
	failover := &setting{Failover: []*networking.LocalityLoadBalancerSetting_Failover{{From: "r2", To: "r3"}, {From: "r1", To: "r2"}}}
	off, on := &setting{Enabled: wrapperspb.Bool(false)}, &setting{Enabled: wrapperspb.Bool(true)}
	shares := eds.Locality{Distribute: eds.NewPairs(map[string]string{"r1/*": "80", "r2": "20"})}
	near := eds.Locality{Failover: true, Proxy: at}
	toR2 := eds.Locality{Failover: true, Proxy: at, To: "r2", HasTo: true}
	tests := []struct {
		name   string
		mesh   *setting
		policy *networking.TrafficPolicy
		want   eds.Locality
	}{
		{"nothing", nil, nil, eds.Locality{}},
		{"outlier detection alone", nil, &networking.TrafficPolicy{OutlierDetection: od}, near},
		{"enabled alone", nil, policy(on, nil), eds.Locality{}},
		{"disabled", nil, policy(off, od), eds.Locality{}},
		{"mesh disabled", off, &networking.TrafficPolicy{OutlierDetection: od}, eds.Locality{}},
		{"rule enables over the mesh", off, policy(on, od), near},
		{"distribute", nil, policy(distribute, od), shares},
		{"distribute without outlier detection", nil, policy(distribute, nil), shares},
		{"mesh's distribute", distribute, nil, shares},
		{"rule's failover over mesh's distribute", distribute, policy(failover, od), toR2},
		{"mesh's failover", failover, &networking.TrafficPolicy{OutlierDetection: od}, toR2},
		{"failover without outlier detection", nil, policy(failover, nil), eds.Locality{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := viewOf(t, sidecar(proxy), kube("web", "shop"), meshOf(tt.mesh), rule("web", tt.policy)).Locality; got != tt.want {
				t.Errorf("locality %+v, want %+v", got, tt.want)
			}
		})
	}
}

// Labels of failoverPriority get the proxy's values, topology included, or the
// one that is written.
func TestFailoverPriorityLabels(t *testing.T) {
	p := sidecar(elsewhere)
	policy := &networking.TrafficPolicy{OutlierDetection: &networking.OutlierDetection{}, LoadBalancer: locality(&networking.LocalityLoadBalancerSetting{
		FailoverPriority: []string{model.LabelNetwork, model.LabelRegion, model.LabelZone, model.LabelSubzone, model.LabelCluster, model.LabelHostname, "app", "version=v9"},
	})}
	want := eds.Pairs("").Append(model.LabelNetwork, "net2").Append(model.LabelRegion, "r2").Append(model.LabelZone, "z2").Append(model.LabelSubzone, "").
		Append(model.LabelCluster, "Kubernetes").Append(model.LabelHostname, "n2").Append("app", "other").Append("version", "v9")
	got := viewOf(t, p, kube("web", "shop"), rule("web", policy)).Locality
	if got != (eds.Locality{Priority: want}) {
		t.Errorf("locality %+v", got)
	}
}

// A traffic distribution orders by closeness without outlier detection, and has
// unhealthy endpoints sent (fact 21).
func TestTrafficDistribution(t *testing.T) {
	for d, labels := range map[model.TrafficDistribution][]string{
		model.DistributionPreferSameZone: {model.LabelNetwork, model.LabelRegion, model.LabelZone},
		model.DistributionPreferSameNode: {model.LabelNetwork, model.LabelRegion, model.LabelZone, model.LabelSubzone, model.LabelHostname},
	} {
		s := kube("web", "shop")
		s.TrafficDistribution = d
		v := viewOf(t, sidecar(elsewhere), s)
		var got []string
		for k := range v.Locality.Priority.All() {
			got = append(got, k)
		}
		if len(got) != len(labels) || v.Locality.Failover || !v.SendUnhealthy {
			t.Errorf("distribution %d: %v, %+v", d, got, v)
		}
		rules := &networking.TrafficPolicy{LoadBalancer: locality(&networking.LocalityLoadBalancerSetting{Enabled: wrapperspb.Bool(false)})}
		if l := viewOf(t, sidecar(elsewhere), s, rule("web", rules)).Locality; l != (eds.Locality{}) {
			t.Errorf("distribution %d: a rule's setting does not hold: %+v", d, l)
		}
	}
}

// What a policy says for a port replaces all; a subset adds to the rule, but
// takes over nothing of its TLS.
func TestPolicies(t *testing.T) {
	type policy = networking.TrafficPolicy
	od := &networking.OutlierDetection{}
	tls := func(m networking.ClientTLSSettings_TLSmode) *networking.ClientTLSSettings {
		return &networking.ClientTLSSettings{Mode: m}
	}
	port := func(n uint32, p *networking.TrafficPolicy_PortTrafficPolicy) []*networking.TrafficPolicy_PortTrafficPolicy {
		p.Port = &networking.PortSelector{Number: n}
		return []*networking.TrafficPolicy_PortTrafficPolicy{p}
	}
	type portPolicy = networking.TrafficPolicy_PortTrafficPolicy
	const simple, mutual = networking.ClientTLSSettings_SIMPLE, networking.ClientTLSSettings_ISTIO_MUTUAL
	tests := []struct {
		name            string
		general, subset *policy
		failover        bool
		tls             eds.TLS
	}{
		{"nothing", nil, nil, false, eds.TLSAuto},
		{"general outlier detection", &policy{OutlierDetection: od, Tls: tls(simple)}, nil, true, eds.TLSAuto},
		{"subset's outlier detection", nil, &policy{OutlierDetection: od, Tls: tls(mutual)}, true, eds.TLSMutual},
		{"port without it", &policy{OutlierDetection: od, PortLevelSettings: port(80, &portPolicy{})}, nil, false, eds.TLSAuto},
		{"another port", &policy{OutlierDetection: od, PortLevelSettings: port(81, &portPolicy{})}, nil, true, eds.TLSAuto},
		{"subset's port over all", &policy{OutlierDetection: od}, &policy{OutlierDetection: od, PortLevelSettings: port(80, &portPolicy{})}, false, eds.TLSAuto},
		{"subset's port TLS", nil, &policy{Tls: tls(simple), PortLevelSettings: port(80, &portPolicy{Tls: tls(mutual)})}, false, eds.TLSMutual},
		{"subset's port without TLS", nil, &policy{Tls: tls(simple), PortLevelSettings: port(80, &portPolicy{})}, false, eds.TLSOther},
		{"general port, subset's own", &policy{PortLevelSettings: port(80, &portPolicy{OutlierDetection: od})}, &policy{Tls: tls(simple)}, true, eds.TLSOther},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			snap := snapshot(t, kube("web", "shop"), rule("web", tt.general, &networking.Subset{Name: "v1", TrafficPolicy: tt.subset}))
			v := find(t, cds.Build(snap, sidecar()), "outbound|80|v1|web.shop.svc.cluster.local").View
			if v.Locality.Failover != tt.failover || v.TLS != tt.tls {
				t.Errorf("failover %v, TLS %v", v.Locality.Failover, v.TLS)
			}
		})
	}
}
