package cds_test

import (
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"google.golang.org/protobuf/proto"
	meshconfig "istio.io/api/mesh/v1alpha1"
	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// own keeps the proxy's own namespace free of outbound clusters.
func own(s *model.Service) *model.Service {
	s.ExportTo = []string{"~"}
	return s
}

func selecting(s *model.Service, kv ...string) *model.Service {
	s.Selector = model.Labels{}
	for i := 0; i < len(kv); i += 2 {
		s.Selector[kv[i]] = kv[i+1]
	}
	return own(s)
}

func TestInbound(t *testing.T) {
	named := model.Port{Name: "grpc", Number: 90, Protocol: model.ProtocolGRPC, TargetPortName: "rpc"}
	same := model.Port{Name: "again", Number: 81, Protocol: model.ProtocolHTTP, TargetPort: 8080}
	udp := model.Port{Name: "udp", Number: 53, Protocol: model.ProtocolUDP, TargetPort: 5353}
	ports := func(p *model.Proxy) { p.ContainerPorts = map[string]uint32{"rpc": 9090} }
	dual := func(p *model.Proxy) { p.IPs = []string{"10.9.0.1", "fd00::1"} }
	bare := own(kube("bare", "client"))
	remote := selecting(kube("far", "client", http(70)), "app", "client")
	remote.VIPs = map[model.ClusterID][]string{"remote": nil}
	both := selecting(kube("both", "client", http(60)), "app", "client")
	both.PerCluster = map[model.ClusterID]*model.Service{"remote": both, home: selecting(kube("both", "client", http(61)), "app", "client")}
	alias := selecting(kube("alias", "client", http(80)), "app", "client")
	alias.Resolution = model.Alias
	tests := []struct {
		name    string
		objects []any
		proxy   func(*model.Proxy)
		want    string
	}{
		{"by the selector of an alias", []any{alias}, ports, "inbound|8080||=ORIGINAL_DST"},
		{"by selector", []any{selecting(kube("a", "client", http(80), same), "app", "client")}, ports, "inbound|8080||=ORIGINAL_DST"},
		{"two services, one port", []any{selecting(kube("a", "client", http(80)), "app", "client"), selecting(kube("b", "client", same), "app", "client")}, ports, "inbound|8080||=ORIGINAL_DST"},
		{"named port", []any{selecting(kube("a", "client", named), "app", "client")}, ports, "inbound|9090||=ORIGINAL_DST"},
		{"name that no container has", []any{selecting(kube("a", "client", named), "app", "client")}, func(*model.Proxy) {}, ""},
		{"target port left out", []any{selecting(kube("a", "client", model.Port{Name: "x", Number: 7070}), "app", "client")}, ports, "inbound|7070||=ORIGINAL_DST"},
		{"UDP", []any{selecting(kube("a", "client", udp), "app", "client")}, ports, "inbound|5353||=ORIGINAL_DST"},
		{"to the workload itself", []any{meshWith(&meshconfig.MeshConfig{InboundTrafficPolicy: localhost}), selecting(kube("a", "client"), "app", "client")}, ports, "inbound|8080||=STATIC"},
		{"other labels", []any{selecting(kube("a", "client"), "app", "x")}, ports, ""},
		{"other namespace", []any{selecting(kube("a", "shop"), "app", "client")}, ports, ""},
		{"router", []any{selecting(kube("a", "client"), "app", "client")}, router, ""},
		{"no selector, no address", []any{bare}, ports, ""},
		{"no selector, by address", []any{with{bare, []*model.Endpoint{endpoint("10.9.0.1", 7777, "")}}}, ports, "inbound|7777||=ORIGINAL_DST"},
		{"selected goes before listed", []any{selecting(kube("a", "client"), "app", "client"), with{bare, []*model.Endpoint{endpoint("10.9.0.1", 7777, "")}}}, ports, "inbound|8080||=ORIGINAL_DST"},
		{"selected at no port", []any{selecting(kube("a", "client", named), "app", "client"), with{bare, []*model.Endpoint{endpoint("10.9.0.1", 7777, "")}}}, func(*model.Proxy) {}, ""},
		{"no selector, by the second address", []any{with{bare, []*model.Endpoint{endpoint("fd00::1", 7777, "")}}}, dual, ""},
		{"entry by the second address", []any{with{own(entry("x.example", "client", model.ClientSideLB)), []*model.Endpoint{endpoint("fd00::1", 6666, "")}}}, dual, "inbound|6666||=ORIGINAL_DST"},
		{"entry by address", []any{with{own(entry("x.example", "client", model.ClientSideLB)), []*model.Endpoint{endpoint("10.9.0.1", 6666, ""), endpoint("10.9.0.2", 5555, "")}}}, ports, "inbound|6666||=ORIGINAL_DST"},
		{"not in its cluster", []any{remote}, ports, ""},
		{"as its cluster has it", []any{both}, ports, "inbound|8061||=ORIGINAL_DST"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			expectClusters(t, cds.Build(snapshot(t, tt.objects...), sidecar(tt.proxy)), tt.want)
		})
	}
}

// A named port may also be known from what a slice says of the Pod.
func TestNamedPortFromTheSlice(t *testing.T) {
	s := selecting(kube("a", "client", model.Port{Name: "http", Number: 90, TargetPortName: "rpc"}), "app", "client")
	snap := snapshot(t, with{s, []*model.Endpoint{endpoint("10.9.0.1", 9191, "")}})
	p := sidecar()
	for _, c := range snap.Service(s.Key).Candidates() {
		c.Target = &p.Pod
	}
	expectClusters(t, cds.Build(snap, p), "inbound|9191||=ORIGINAL_DST")
}

// Which port of a service leads to a port of the workload may differ from Pod to Pod, by
// the names that their containers give to ports; so do the clusters, and their Variants.
func TestVariantHasThePort(t *testing.T) {
	named := model.Port{Name: "http", Number: 80, Protocol: model.ProtocolHTTP, TargetPortName: "web"}
	fixed := model.Port{Name: "tcp", Number: 9000, Protocol: model.ProtocolTCP, TargetPort: 8081}
	snap := snapshot(t, selecting(kube("a", "client", named, fixed), "app", "client"))
	inbound := func(web uint32) (*cds.Cluster, *clusterv3.Cluster) {
		p := sidecar(func(p *model.Proxy) { p.ContainerPorts = map[string]uint32{"web": web} })
		c := find(t, cds.Build(snap, p), "inbound|8081||")
		m, err := c.Message(snap.Mesh)
		if err != nil {
			t.Fatal(err)
		}
		return c, m
	}
	before, tcp := inbound(8080)
	after, http := inbound(8081)
	if proto.Equal(tcp, http) {
		t.Fatalf("the clusters are the same: %v", tcp)
	}
	if before.Variant == after.Variant {
		t.Errorf("different clusters have the same variant %+v", before.Variant)
	}
}

// A Sidecar's ingress takes the place of the services' ports.
func TestIngress(t *testing.T) {
	tests := []struct {
		endpoint string
		ips      []string
		address  string // "" for the original destination
		port     uint32
	}{
		{"127.0.0.1:8080", []string{"10.9.0.1"}, "127.0.0.1", 8080},
		{"127.0.0.1:8080", []string{"fd00::9"}, "::1", 8080},
		{"0.0.0.0:7070", []string{"10.9.0.1", "fd00::9"}, "10.9.0.1", 7070},
		{"[::]:7070", []string{"10.9.0.1", "fd00::9"}, "fd00::9", 7070},
		{"0.0.0.0:7070", []string{"fd00::9", "10.9.0.1"}, "10.9.0.1", 7070},
		{"0.0.0.0:7070", []string{"fd00::9"}, "127.0.0.1", 7070},
		{"[::]:7070", []string{"10.9.0.1"}, "::1", 7070},
		{"[::1]:7070", []string{"10.9.0.1"}, "127.0.0.1", 7070},
		{"[::1]:7070", []string{"10.9.0.1", "fd00::9"}, "::1", 7070},
		{"127.0.0.1:7070", []string{"fd00::9", "10.9.0.1"}, "127.0.0.1", 7070},
		{"10.1.1.1:99", []string{"10.9.0.1"}, "", 0},
		{"unix:///var/run/app.sock", []string{"10.9.0.1"}, "unix:///var/run/app.sock", 0},
		{"", []string{"10.9.0.1"}, "", 0},
	}
	for _, tt := range tests {
		sc := &networkingv1.Sidecar{ObjectMeta: meta("sc", "client"), Spec: networking.Sidecar{
			Ingress: []*networking.IstioIngressListener{{Port: &networking.SidecarPort{Number: 9080, Protocol: "HTTP"}, DefaultEndpoint: tt.endpoint}},
		}}
		snap := snapshot(t, sc, selecting(kube("a", "client"), "app", "client"))
		clusters := cds.Build(snap, sidecar(func(p *model.Proxy) { p.IPs = tt.ips }))
		c := find(t, clusters, "inbound|9080||")
		if tt.address == "" {
			if c.Type != cds.OriginalDst || c.Inline != nil {
				t.Errorf("%q: %+v", tt.endpoint, c)
			}
			continue
		}
		if len(clusters) != 4 || c.Type != cds.Static {
			t.Fatalf("%q: %s", tt.endpoint, short(clusters))
		}
		e := c.Inline.Localities[0].Endpoints[0]
		if e.Address != tt.address || e.Port != tt.port || c.Inline.Message().GetEndpoints()[0].GetLbEndpoints()[0].GetMetadata() != nil {
			t.Errorf("%q for %v: %+v", tt.endpoint, tt.ips, e)
		}
	}
}

// An ingress listener has no cluster if its endpoint has no port that can be read.
func TestIngressWithoutPort(t *testing.T) {
	for _, endpoint := range []string{"nonsense", "127.0.0.1:x", "127.0.0.1:"} {
		sc := &networkingv1.Sidecar{ObjectMeta: meta("sc", "client"), Spec: networking.Sidecar{
			Ingress: []*networking.IstioIngressListener{{Port: &networking.SidecarPort{Number: 9080, Protocol: "HTTP"}, DefaultEndpoint: endpoint}},
		}}
		expectClusters(t, cds.Build(snapshot(t, sc), sidecar()), "")
	}
}

// With the mesh's policy LOCALHOST a workload's services are reached on itself.
func TestInboundLocalhost(t *testing.T) {
	for want, ips := range map[string][]string{"127.0.0.1": {"fd00::1", "10.9.0.1"}, "::1": {"fd00::1"}} {
		snap := snapshot(t, meshWith(&meshconfig.MeshConfig{InboundTrafficPolicy: localhost}), selecting(kube("a", "client"), "app", "client"))
		c := find(t, cds.Build(snap, sidecar(func(p *model.Proxy) { p.IPs = ips })), "inbound|8080||")
		if e := c.Inline.Localities[0].Endpoints[0]; e.Address != want || e.Port != 8080 {
			t.Errorf("for %v: %s:%d, want %s:8080", ips, e.Address, e.Port, want)
		}
	}
}

var localhost = &meshconfig.MeshConfig_InboundTrafficPolicy{Mode: meshconfig.MeshConfig_InboundTrafficPolicy_LOCALHOST}

func meshWith(c *meshconfig.MeshConfig) *state.Mesh {
	m := state.DefaultMesh()
	m.Config = c
	return m
}

// Of the ports of one service that have the same target port and protocol, the
// first counts.
func TestTargets(t *testing.T) {
	again := model.Port{Name: "again", Number: 81, Protocol: model.ProtocolHTTP, TargetPort: 8080}
	a, b := selecting(kube("a", "client", http(80), again), "app", "client"), selecting(kube("b", "client", again), "app", "client")
	snap := snapshot(t, a, b)
	got := cds.Targets([]*model.Service{a, b}, snap, sidecar())
	if len(got) != 2 || got[0].Definition != a || got[0].Port.Number != 80 || got[1].Definition != b || got[1].TargetPort != 8080 {
		t.Errorf("targets %+v", got)
	}
	dns := selecting(kube("dns", "client",
		model.Port{Name: "dns", Number: 53, Protocol: model.ProtocolUDP}, model.Port{Name: "dns-tcp", Number: 53, Protocol: model.ProtocolTCP}), "app", "client")
	if got := cds.Targets([]*model.Service{dns}, snapshot(t, dns), sidecar()); len(got) != 2 {
		t.Errorf("targets of two protocols at one port: %+v", got)
	}
}
