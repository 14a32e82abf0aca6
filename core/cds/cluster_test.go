package cds_test

import (
	"slices"
	"strings"
	"testing"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

func TestClustersOfEveryProxy(t *testing.T) {
	snap := snapshot(t)
	names := func(p *model.Proxy) []string {
		var out []string
		for _, c := range cds.Build(snap, p) {
			out = append(out, c.Name)
		}
		return out
	}
	if got := names(sidecar()); !slices.Equal(got, []string{"BlackHoleCluster", "InboundPassthroughCluster", "PassthroughCluster"}) {
		t.Errorf("sidecar: %v", got)
	}
	if got := names(sidecar(router)); !slices.Equal(got, []string{"BlackHoleCluster"}) {
		t.Errorf("router: %v", got)
	}
	m := state.DefaultMesh()
	m.Features.Ambient = true
	expectClusters(t, cds.Build(snapshot(t, m), sidecar()), "connect_originate=ORIGINAL_DST")
}

// The type follows the resolution; headless is EDS for routers only; UDP has no
// cluster, SCTP has one; ExternalName has none (facts 18 and 19).
func TestTypes(t *testing.T) {
	resolution := func(name string, r model.Resolution) *model.Service {
		s := kube(name, "shop")
		s.Resolution = r
		return s
	}
	objects := []any{
		kube("plain", "shop"), resolution("headless", model.Passthrough), resolution("alias", model.Alias),
		kube("ports", "shop", model.Port{Name: "u", Number: 53, Protocol: model.ProtocolUDP}, model.Port{Name: "s", Number: 54, Protocol: model.ProtocolUnsupported}),
		with{entry("dns.example", "shop", model.DNSLB), []*model.Endpoint{endpoint("a.example", 80, "")}},
		with{entry("rr.example", "shop", model.DNSRoundRobinLB), []*model.Endpoint{endpoint("b.example", 80, "")}},
		entry("none.example", "shop", model.Passthrough), entry("nodns.example", "shop", model.DNSLB), entry("static.example", "shop", model.ClientSideLB),
	}
	const both = "outbound|80||dns.example=STRICT_DNS "
	expectClusters(t, cds.Build(snapshot(t, objects...), sidecar()), "outbound|54||ports.shop=EDS "+both+
		"outbound|80||headless.shop=ORIGINAL_DST outbound|80||none.example=ORIGINAL_DST outbound|80||plain.shop=EDS outbound|80||rr.example=LOGICAL_DNS outbound|80||static.example=EDS")
	expectClusters(t, cds.Build(snapshot(t, objects...), sidecar(router)), "outbound|54||ports.shop=EDS "+both+
		"outbound|80||headless.shop=EDS outbound|80||none.example=EDS outbound|80||plain.shop=EDS outbound|80||rr.example=LOGICAL_DNS outbound|80||static.example=EDS")
}

func TestEDSServiceName(t *testing.T) {
	s := kube("headless", "shop")
	s.Resolution = model.Passthrough
	for _, c := range cds.Build(snapshot(t, kube("plain", "shop"), s), sidecar()) {
		if (c.EDSServiceName == c.Name) != (c.Type == cds.EDS) || (c.Assignment() != nil) != (c.Type == cds.EDS) {
			t.Errorf("%s of type %s has EDS name %q and assignment %v", c.Name, c.Type, c.EDSServiceName, c.Assignment())
		}
	}
}

func TestInlineAssignment(t *testing.T) {
	far, near := endpoint("a.example", 443, "r1"), endpoint("b.example", 444, "r1")
	far.LegacyPort, near.LegacyPort, near.PortName = 80, 80, "another"
	snap := snapshot(t, with{entry("dns.example", "shop", model.DNSLB), []*model.Endpoint{far, near}})
	c := find(t, cds.Build(snap, sidecar()), "outbound|80||dns.example")
	if c.Inline == nil || c.Inline.Sent() != 2 || c.EDSServiceName != "" {
		t.Errorf("inline %+v, EDS name %q", c.Inline, c.EDSServiceName)
	}
	if c.Inline.Cluster != c.Name || c.View.Cluster != c.Name {
		t.Errorf("the inline assignment is of %s", c.Inline.Cluster)
	}
}

// Subsets have clusters of their own, of any type (fact 19); a rule that lets the
// connection's own destination be used turns it into ORIGINAL_DST.
func TestSubsets(t *testing.T) {
	headless := kube("headless", "shop")
	headless.Resolution = model.Passthrough
	pass := &networking.TrafficPolicy{LoadBalancer: &networking.LoadBalancerSettings{
		LbPolicy: &networking.LoadBalancerSettings_Simple{Simple: networking.LoadBalancerSettings_PASSTHROUGH},
	}}
	v1 := &networking.Subset{Name: "v1", Labels: map[string]string{"version": "v1"}}
	v2 := &networking.Subset{Name: "v2", TrafficPolicy: pass}
	snap := snapshot(t, kube("web", "shop"), headless, rule("*.shop.svc.cluster.local", nil, v1, v2))
	clusters := cds.Build(snap, sidecar())
	expectClusters(t, clusters, "outbound|80|v1|headless.shop=ORIGINAL_DST outbound|80|v1|web.shop=EDS outbound|80|v2|headless.shop=ORIGINAL_DST "+
		"outbound|80|v2|web.shop=ORIGINAL_DST outbound|80||headless.shop=ORIGINAL_DST outbound|80||web.shop=EDS")
	c := find(t, clusters, "outbound|80|v1|web.shop.svc.cluster.local")
	if !c.View.Subset.Has("version") || c.Subset != "v1" || c.Rule == nil || c.EDSServiceName != c.Name {
		t.Errorf("subset cluster %+v", c)
	}
	c = find(t, clusters, "outbound|80|v2|web.shop.svc.cluster.local")
	if c.EDSServiceName != "" || c.View != (cds.Cluster{}).View {
		t.Errorf("passthrough cluster %+v", c)
	}
}

// A subset cannot take the rule's PASSTHROUGH back.
func TestSubsetOfPassthrough(t *testing.T) {
	balance := func(simple networking.LoadBalancerSettings_SimpleLB) *networking.TrafficPolicy {
		return &networking.TrafficPolicy{LoadBalancer: &networking.LoadBalancerSettings{LbPolicy: &networking.LoadBalancerSettings_Simple{Simple: simple}}}
	}
	v1 := &networking.Subset{Name: "v1", TrafficPolicy: balance(networking.LoadBalancerSettings_ROUND_ROBIN)}
	snap := snapshot(t, kube("web", "shop"), rule("web", balance(networking.LoadBalancerSettings_PASSTHROUGH), v1))
	expectClusters(t, cds.Build(snap, sidecar()), "outbound|80|v1|web.shop=ORIGINAL_DST outbound|80||web.shop=ORIGINAL_DST")
}

// Gateways that pass mTLS through have a second cluster for each of the mesh's
// services, whose endpoints must have mTLS.
func TestPassthroughGateway(t *testing.T) {
	gw := &networkingv1.Gateway{ObjectMeta: meta("gw", "edge"), Spec: networking.Gateway{
		Selector: map[string]string{"app": "client"},
		Servers: []*networking.Server{{
			Port: &networking.Port{Number: 15443, Protocol: "TLS"}, Tls: &networking.ServerTLSSettings{Mode: networking.ServerTLSSettings_AUTO_PASSTHROUGH},
		}},
	}}
	external := entry("x.example", "shop", model.ClientSideLB)
	external.MeshExternal = true
	objects := []any{gw, kube("web", "shop"), external, rule("web", nil, &networking.Subset{Name: "v1"})}
	clusters := cds.Build(snapshot(t, objects...), sidecar(router))
	expectClusters(t, clusters, "outbound_.80_._.web.shop=EDS outbound_.80_.v1_.web.shop=EDS outbound|80|v1|web.shop=EDS outbound|80||web.shop=EDS outbound|80||x.example=EDS")
	if c := find(t, clusters, "outbound_.80_._.web.shop.svc.cluster.local"); !c.View.MTLSOnly || c.EDSServiceName != c.Name {
		t.Errorf("passthrough cluster %+v", c)
	}
	if got := short(cds.Build(snapshot(t, objects...), sidecar())); strings.Contains(got, "outbound_") {
		t.Errorf("a sidecar has %s", got)
	}
}

// A subset of a DNS service has no cluster without endpoints, unless it passes
// through; none has one without the service's own.
func TestSubsetOfDNS(t *testing.T) {
	pass := &networking.TrafficPolicy{LoadBalancer: &networking.LoadBalancerSettings{
		LbPolicy: &networking.LoadBalancerSettings_Simple{Simple: networking.LoadBalancerSettings_PASSTHROUGH},
	}}
	subset := func(name, version string, policy *networking.TrafficPolicy) *networking.Subset {
		return &networking.Subset{Name: name, Labels: map[string]string{"version": version}, TrafficPolicy: policy}
	}
	e := endpoint("a.example", 443, "r1")
	e.Workload.Labels = model.Labels{"version": "v1"}
	r := rule("*.example", nil, subset("none", "v2", nil), subset("pass", "v2", pass), subset("some", "v1", nil))
	snap := snapshot(t, with{entry("dns.example", "shop", model.DNSLB), []*model.Endpoint{e}}, entry("bare.example", "shop", model.DNSLB), r)
	expectClusters(t, cds.Build(snap, sidecar()),
		"outbound|80|pass|dns.example=ORIGINAL_DST outbound|80|some|dns.example=STRICT_DNS outbound|80||dns.example=STRICT_DNS")
}
