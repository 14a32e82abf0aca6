package facts

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/audit"
	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/model"
)

// farPod is a Pod with mTLS of a cluster, in a network.
func farPod(cluster, name, ip, network string) string {
	return sprintf("$cluster: %s\napiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: shop, labels: {app: web, security.istio.io/tlsMode: istio, topology.istio.io/network: %s}}\nspec: {nodeName: n1, containers: [{name: istio-proxy}]}\nstatus: {phase: Running, podIP: %s, podIPs: [{ip: %s}], conditions: [{type: Ready, status: 'True'}]}", cluster, name, network, ip, ip)
}

func farGateway(cluster, network string, ips ...string) string {
	ingress := ""
	for _, ip := range ips {
		ingress += "{ip: " + ip + "}, "
	}
	return sprintf("$cluster: %s\napiVersion: v1\nkind: Service\nmetadata: {name: gw, namespace: istio-system, labels: {topology.istio.io/network: %s}}\nspec: {type: LoadBalancer, clusterIP: 10.96.0.9, ports: [{name: tls, port: 15443}]}\nstatus: {loadBalancer: {ingress: [%s]}}", cluster, network, ingress)
}

// split is a mesh of four networks: the first with a gateway in one of its two
// clusters, the second with one and two in its clusters, the third with a gateway
// and no endpoints, the fourth with an endpoint and no gateway.
func split(t *testing.T, more ...string) mesh {
	t.Helper()
	m := newMesh(t)
	for cluster, endpoints := range map[string][]string{
		"c1a": {"p1", "10.0.0.1", "net1", "p3", "10.0.0.3", "net1"}, "c1b": {"p2", "10.0.0.2", "net1"}, "c2a": {"q1", "20.0.0.1", "net2"},
		"c2b": {"q2", "20.0.0.2", "net2", "q3", "20.0.0.3", "net2"}, "c4": {"r1", "40.0.0.1", "net4"},
	} {
		var list []string
		for e := range slices.Chunk(endpoints, 3) {
			m.Put(farPod(cluster, e[0], e[1], e[2]))
			list = append(list, of(e[0], e[1]))
		}
		m.Put("$cluster: " + cluster + "\n" + service("web", "", ""))
		m.Put("$cluster: " + cluster + "\n" + slice("web-"+cluster, list...))
	}
	m.Put(docs(farGateway("c1a", "net1", "1.1.1.1"), farGateway("c2a", "net2", "2.2.2.2"), farGateway("c2b", "net2", "2.2.2.20", "2.2.2.21"), farGateway("c3", "net3", "3.3.3.3")))
	for i, network := range []string{"net1", "net2", "net3", "net4", "''"} {
		m.Put(proxyPod("ns", sprintf("from%d", i+1), sprintf("10.9.1.%d", i), ", topology.istio.io/network: "+network))
	}
	m.Put(docs(append(more, "apiVersion: v1\nkind: Namespace\nmetadata: {name: ns}")...))
	m.Flush()
	return m
}

// weights of what a proxy is sent, as "address weight", sorted.
func (m mesh) weights(proxy, cluster string) []string {
	m.t.Helper()
	out := []string{}
	for _, l := range m.assignment(proxy, cluster).Localities {
		for _, e := range l.Endpoints {
			out = append(out, sprintf("%s %d", e.Address, e.Weight))
		}
	}
	slices.Sort(out)
	return out
}

func (m mesh) wantWeights(proxy string, want ...string) {
	m.t.Helper()
	if got := m.weights(proxy, webEDS); !slices.Equal(got, want) {
		m.t.Errorf("%s is sent %v, want %v", proxy, got, want)
	}
}

func TestWhatEachNetworkIsSent(t *testing.T) {
	m := split(t)
	m.wantWeights("from1.ns", "10.0.0.1 6", "10.0.0.2 6", "10.0.0.3 6", "2.2.2.2 6", "2.2.2.20 6", "2.2.2.21 6", "40.0.0.1 6")
	m.wantWeights("from2.ns", "1.1.1.1 18", "20.0.0.1 6", "20.0.0.2 6", "20.0.0.3 6", "40.0.0.1 6")
	m.wantWeights("from3.ns", "1.1.1.1 18", "2.2.2.2 6", "2.2.2.20 6", "2.2.2.21 6", "40.0.0.1 6")
	m.wantWeights("from4.ns", "1.1.1.1 18", "2.2.2.2 6", "2.2.2.20 6", "2.2.2.21 6", "40.0.0.1 6")
	m.wantWeights("from5.ns", "10.0.0.1 6", "10.0.0.2 6", "10.0.0.3 6", "20.0.0.1 6", "20.0.0.2 6", "20.0.0.3 6", "40.0.0.1 6")
	// The gateway of the cluster is gone: that of the network's other cluster serves.
	m.Apply(remove(farGateway("c2a", "net2")))
	m.wantWeights("from1.ns", "10.0.0.1 2", "10.0.0.2 2", "10.0.0.3 2", "2.2.2.20 3", "2.2.2.21 3", "40.0.0.1 2")
	m.Apply(remove(farGateway("c2b", "net2")))
	m.wantWeights("from1.ns", "10.0.0.1 1", "10.0.0.2 1", "10.0.0.3 1", "20.0.0.1 1", "20.0.0.2 1", "20.0.0.3 1", "40.0.0.1 1")
}

// What turns mTLS off for endpoints takes them from the other networks.
func TestMTLSBetweenNetworks(t *testing.T) {
	peer := func(namespace, spec string) string {
		return istio("PeerAuthentication", namespace, "peer", "{"+spec+"}")
	}
	rule := func(spec string) string {
		return istio("DestinationRule", "shop", "web", "{host: "+web+", "+spec+"}")
	}
	const disable = "mtls: {mode: DISABLE}"
	local := []string{"10.0.0.1 6", "10.0.0.2 6", "10.0.0.3 6", "40.0.0.1 6"}
	all := []string{"10.0.0.1 6", "10.0.0.2 6", "10.0.0.3 6", "2.2.2.2 6", "2.2.2.20 6", "2.2.2.21 6", "40.0.0.1 6"}
	for _, c := range []struct {
		name    string
		objects []string
		want    []string
	}{
		{"other workloads", []string{peer("istio-system", "selector: {matchLabels: {app: b}}, "+disable)}, all},
		{"strict", []string{peer("istio-system", "mtls: {mode: STRICT}")}, all},
		{"the mesh", []string{peer("istio-system", disable)}, local},
		{"the namespace", []string{peer("shop", disable)}, local},
		{"another namespace", []string{peer("ns", disable)}, all},
		{"the workloads", []string{peer("shop", "selector: {matchLabels: {app: web}}, "+disable)}, local},
		{"the port", []string{peer("shop", "selector: {matchLabels: {app: web}}, portLevelMtls: {8080: {mode: DISABLE}}")}, local},
		{"another port", []string{peer("shop", "selector: {matchLabels: {app: web}}, portLevelMtls: {80: {mode: DISABLE}}")}, all},
		{"a rule before it", []string{peer("shop", disable), rule("trafficPolicy: {tls: {mode: ISTIO_MUTUAL}}")}, all},
		{"a rule without TLS", []string{rule("trafficPolicy: {tls: {mode: DISABLE}}")}, local},
		{"a rule of simple TLS", []string{rule("trafficPolicy: {tls: {mode: SIMPLE}}")}, local},
		{"a rule for the port", []string{rule("trafficPolicy: {portLevelSettings: [{port: {number: 80}, tls: {mode: DISABLE}}]}")}, local},
		{"a rule for another port", []string{rule("trafficPolicy: {portLevelSettings: [{port: {number: 81}, tls: {mode: DISABLE}}]}")}, all},
		{"the port before the rule's rest", []string{rule("trafficPolicy: {tls: {mode: DISABLE}, portLevelSettings: [{port: {number: 80}, tls: {mode: ISTIO_MUTUAL}}]}")}, all},
	} {
		t.Run(c.name, func(t *testing.T) { split(t, c.objects...).wantWeights("from1.ns", c.want...) })
	}
}

func TestPortsOfGateways(t *testing.T) {
	for label, want := range map[string]uint32{"'1234'": 1234, "odd": 15443, "''": 15443} {
		m := newMesh(t, gatewayOf(", labels: {topology.istio.io/network: net2, networking.istio.io/gatewayPort: "+label+"}", ", externalIPs: [203.0.113.1]", ""))
		equal(t, "port with "+label, m.Snapshot().Gateways()[0].Port, want)
	}
}

// Networks, labels and Services say in turn which gateways there are.
func TestGatewaysComeAndGo(t *testing.T) {
	const none, network = "", ", labels: {topology.istio.io/network: net2}"
	gw := func(metadata string) string { return gatewayOf(metadata, ", externalIPs: [203.0.113.1]", "") }
	addressed := meshConfig("{}", "networks: {net1: {gateways: [{address: 203.0.113.5, port: 443}]}}")
	count := func(m mesh) int { return len(m.Snapshot().Gateways()) }
	m := newMesh(t, gw(none))
	equal(t, "gateways without a label", count(m), 0)
	equal(t, "a full push for the label", m.Apply(gw(network)).Push.Scope.Type.String(), "full")
	equal(t, "gateways", count(m), 1)
	m.Apply(gw(", labels: {topology.istio.io/network: net3}"))
	equal(t, "network", m.Snapshot().Gateways()[0].Network, model.NetworkID("net3"))
	m.Apply(addressed)
	equal(t, "gateways with the mesh's", count(m), 2)
	m.Apply(remove(gw(none)))
	equal(t, "gateways of the mesh alone", count(m), 1)
	m.Apply(meshConfig("{}", ""))
	equal(t, "gateways in the end", count(m), 0)
	// Several networks may name one Service.
	three := "networks: {a: {endpoints: [{fromRegistry: Kubernetes}], gateways: [{registryServiceName: gw.istio-system.svc.cluster.local, port: 15443}]}, b: {endpoints: [{fromRegistry: Kubernetes}], gateways: [{registryServiceName: gw.istio-system.svc.cluster.local, port: 15443}]}}"
	m = newMesh(t, gw(none), meshConfig("{}", three))
	equal(t, "gateways of one Service in two networks", count(m), 2)
}

// A gateway that is a name stands for no endpoint sent by address while no addresses
// are found for it. Clusters that resolve names themselves have the name.
func TestGatewaysByName(t *testing.T) {
	m := split(t, remove(farGateway("c2b", "net2")), strings.Replace(farGateway("c2a", "net2", "2.2.2.2"), "ip: 2.2.2.2", "hostname: lb.example.com", 1),
		inline("resolution: DNS, "+httpPort+", endpoints: [{address: x.example.com, network: net2, serviceAccount: x}]"))
	m.wantWeights("from1.ns", "10.0.0.1 1", "10.0.0.2 1", "10.0.0.3 1", "20.0.0.1 1", "20.0.0.2 1", "20.0.0.3 1", "40.0.0.1 1")
	named := func() int {
		return len(slices.DeleteFunc(audit.Config(m.Snapshot()), func(p audit.Problem) bool { return !strings.Contains(p.Message, "lb.example.com") }))
	}
	equal(t, "problems with the name", named(), 1)
	m.Controller = control.New(control.Options{Source: m.Store, Lookup: func(context.Context, string, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("2.2.2.3"), netip.MustParseAddr("2.2.2.4")}, nil
	}})
	m.Store.Attach(m.Controller)
	m.Flush()
	m.wantWeights("from1.ns", "10.0.0.1 2", "10.0.0.2 2", "10.0.0.3 2", "2.2.2.3 3", "2.2.2.4 3", "40.0.0.1 2")
	equal(t, "problems with its addresses", named(), 0)
	why := explain.New(explain.Options{}).Explain(m.Snapshot(), explain.Question{Proxy: "from1.ns", Host: web, Port: 80, Address: "20.0.0.1"}, nil)
	if text := why.Sentence; !strings.Contains(text, "gateways 2.2.2.3:15443 and 2.2.2.4:15443") || strings.Contains(text, "lb.example.com") {
		t.Errorf("it is explained by %q", text)
	}
	c := m.clusters("from1.ns")["outbound|80||e.example.com"]
	equal(t, "address inside of a cluster by DNS", c.Inline.Localities[0].Endpoints[0].Address, "lb.example.com")
	equal(t, "what it stands for", c.Inline.Reasons[0], model.ReasonReplacedByGateway)
}
