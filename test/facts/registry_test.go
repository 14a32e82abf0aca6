package facts

import (
	"slices"
	"testing"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/model"
)

func (m mesh) definition(host string) *model.Service {
	m.t.Helper()
	d := m.service(host).Definition()
	if d == nil {
		m.t.Fatalf("%s has no definition", host)
	}
	return d
}

func (m mesh) has(proxy, cluster string) bool {
	m.t.Helper()
	return m.clusters(proxy)[cluster] != nil
}

func TestFact16ExportTo(t *testing.T) {
	m := newMesh(t, meshConfig("defaultServiceExportTo: [\".\"]", ""), service("web", "", ""), slice("a", at("10.0.0.1", "")))
	equal(t, "exportTo as written", len(m.definition(web).ExportTo), 0)
	equal(t, "client has a private service", m.has(client, webEDS), false)
	m = newMesh(t, service("web", ", annotations: {networking.istio.io/exportTo: '~'}", ""), proxyPod("shop", "own", "10.9.0.2", ""), slice("a", at("10.0.0.1", "")))
	equal(t, "own namespace has a hidden service", m.has("own.shop", webEDS), false)
	equal(t, "endpoints in its shard", len(m.endpoints(web)), 0)
	equal(t, "reason", m.reason(web, "10.0.0.1"), model.ReasonNotVisible)
}

// Where "~" stands beside "*" every namespace sees the service, but a Kubernetes
// Service has no endpoints, while those of a ServiceEntry do not depend on it.
func TestExportToNobodyAndEverybody(t *testing.T) {
	const spec = "hosts: [e.example.com], addresses: [240.0.0.1], ports: [{number: 80, name: http, protocol: HTTP}], resolution: STATIC, endpoints: [{address: 192.0.2.1}], exportTo: [%s]"
	for _, to := range []string{"~, *", "*, ~"} {
		m := newMesh(t, service("web", ", annotations: {networking.istio.io/exportTo: '"+to+"'}", ""), slice("a", at("10.0.0.1", "")))
		m.wantSent(webEDS)
		equal(t, "reason", m.reason(web, "10.0.0.1"), model.ReasonNotVisible)
	}
	newMesh(t, entry("shop", "e", "", sprintf(spec, "'~', '*'"))).wantSent("outbound|80||e.example.com", "192.0.2.1:80/0")
	m := newMesh(t, entry("shop", "e", "", sprintf(spec, "'~', ns")))
	equal(t, "client has an entry for nobody and its namespace", m.has(client, "outbound|80||e.example.com"), false)
	equal(t, "endpoints in its shard", len(m.endpoints("e.example.com")), 1)
}

func TestFact17DefaultExportToOfNamespaces(t *testing.T) {
	m := newMesh(t, meshConfig("defaultServiceExportTo: [\"ns\"]", ""), service("web", "", ""), proxyPod("shop", "own", "10.9.0.2", ""))
	equal(t, "the named namespace has it", m.has(client, webEDS), false)
	equal(t, "the own namespace has it", m.has("own.shop", webEDS), false)
}

func TestFact18ExternalName(t *testing.T) {
	m := newMesh(t, "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {type: ExternalName, externalName: api.example.com, ports: [{name: http, port: 80}]}",
		entry("shop", "e", "", "hosts: ["+web+"], addresses: [240.0.0.1], ports: [{number: 80, name: http, protocol: HTTP}], resolution: STATIC, endpoints: [{address: 192.0.2.1}]"))
	d := m.definition(web)
	equal(t, "resolution", d.Resolution, model.Alias)
	equal(t, "external", d.MeshExternal, true)
	equal(t, "address", d.DefaultAddress, "0.0.0.0")
	equal(t, "cluster of the ServiceEntry with the same host", m.has(client, webEDS), false)
}

func TestFact19Headless(t *testing.T) {
	headless := "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {clusterIP: None, ports: [{name: http, port: 80}, {name: dns, port: 53, protocol: UDP}, {name: s, port: 81, protocol: SCTP}], selector: {app: web}}"
	router := "apiVersion: v1\nkind: Pod\nmetadata: {name: gw, namespace: ns}\nspec: {containers: [{name: istio-proxy, args: [proxy, router]}]}\nstatus: {phase: Running, podIP: 10.9.0.3}"
	m := newMesh(t, headless, router, istio("DestinationRule", "shop", "web", "{host: web, subsets: [{name: v1, labels: {version: v1}}]}"))
	equal(t, "type for a sidecar", m.clusters(client)[webEDS].Type, cds.OriginalDst)
	equal(t, "type of a subset", m.clusters(client)["outbound|80|v1|"+web].Type, cds.OriginalDst)
	equal(t, "type for a router", m.clusters("gw.ns")[webEDS].Type, cds.EDS)
	equal(t, "cluster of a UDP port", m.has(client, "outbound|53||"+web), false)
	equal(t, "cluster of an SCTP port", m.has(client, "outbound|81||"+web), true)
	equal(t, "protocol of an SCTP port", m.definition(web).Ports[2].Protocol, model.ProtocolUnsupported)
}

func TestFact20InternalTrafficPolicyLocal(t *testing.T) {
	other := "apiVersion: v1\nkind: Pod\nmetadata: {name: q, namespace: shop}\nspec: {nodeName: n2}\nstatus: {phase: Running, podIP: 10.0.0.2, conditions: [{type: Ready, status: 'True'}]}"
	m := newMesh(t, service("web", "", ", internalTrafficPolicy: Local"), pod("p", "10.0.0.1", ""), other, slice("a", of("p", "10.0.0.1"), of("q", "10.0.0.2")))
	m.wantSent(webEDS, "10.0.0.1:8080/0")
	equal(t, "reason of the other node's", m.assignment(client, webEDS).Reasons[1], model.ReasonNodeLocal)
}

func TestFact21TrafficDistribution(t *testing.T) {
	for _, c := range []struct {
		metadata, spec string
		want           model.TrafficDistribution
	}{
		{"", ", trafficDistribution: PreferClose", model.DistributionPreferSameZone},
		{"", ", trafficDistribution: PreferSameZone", model.DistributionPreferSameZone},
		{"", ", trafficDistribution: PreferSameNode", model.DistributionPreferSameNode},
		{", annotations: {networking.istio.io/traffic-distribution: preferclose}", "", model.DistributionPreferSameZone},
		{", annotations: {networking.istio.io/traffic-distribution: odd}", ", trafficDistribution: PreferSameNode", model.DistributionPreferSameNode},
	} {
		m := newMesh(t, service("web", c.metadata, c.spec))
		equal(t, "distribution with "+c.metadata+c.spec, m.definition(web).TrafficDistribution, c.want)
	}
	m := newMesh(t, entry("shop", "e", ", annotations: {networking.istio.io/traffic-distribution: PreferClose}", "hosts: [e.example.com], ports: [{number: 80, name: http, protocol: HTTP}], resolution: STATIC"),
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, annotations: {networking.istio.io/traffic-distribution: PreferClose}}", service("web", "", ""))
	equal(t, "distribution of a ServiceEntry", m.definition("e.example.com").TrafficDistribution, model.DistributionPreferSameZone)
	equal(t, "distribution by the Namespace", m.definition(web).TrafficDistribution, model.DistributionAny)
	far := "apiVersion: v1\nkind: Pod\nmetadata: {name: q, namespace: shop}\nspec: {nodeName: n2}\nstatus: {phase: Running, podIP: 10.0.0.2, conditions: [{type: Ready, status: 'True'}]}"
	m = newMesh(t, node("n1", "r1", "z1"), node("n2", "r1", "z1"), service("web", "", ", trafficDistribution: PreferSameNode"), pod("p", "10.0.0.1", ""), far, slice("a", of("p", "10.0.0.1"), of("q", "10.0.0.2")))
	m.wantSent(webEDS, "10.0.0.1:8080/0", "10.0.0.2:8080/1")
}

func TestFact22AddressFamiliesStay(t *testing.T) {
	m := newMesh(t, service("web", "", ""), "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: six, namespace: shop, labels: {kubernetes.io/service-name: web}}\naddressType: IPv6\nports: [{name: http, port: 8080}]\nendpoints: [{addresses: ['2001:db8::1']}]")
	m.wantSent(webEDS, "2001:db8::1:8080/0")
}

func TestFact23NodePorts(t *testing.T) {
	nodes := "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {pool: x}}\nstatus: {addresses: [{type: ExternalIP, address: 203.0.113.1}]}"
	spec := ", type: NodePort"
	m := newMesh(t, nodes, service("web", "", spec))
	equal(t, "addresses without the annotation", len(m.definition(web).ExternalAddresses), 0)
	m = newMesh(t, nodes, service("web", ", annotations: {traffic.istio.io/nodeSelector: '{\"pool\":\"x\"}'}", spec))
	if got := m.definition(web).ExternalAddresses["Kubernetes"]; !slices.Equal(got, []string{"203.0.113.1"}) {
		t.Errorf("the addresses are %v, want the node's", got)
	}
}

const static = "hosts: [e.example.com], addresses: [240.0.0.1], ports: [{number: 80, name: http, protocol: HTTP}], resolution: STATIC, location: MESH_INTERNAL, endpoints: [{address: %s}]"

func TestFact26WhoWinsAHost(t *testing.T) {
	old, young := ", creationTimestamp: '2024-03-01T00:00:01Z'", ", creationTimestamp: '2024-03-01T00:00:02Z'"
	m := newMesh(t, entry("a", "young", young, sprintf(static, "192.0.2.1")), entry("b", "old", old, sprintf(static, "192.0.2.2")))
	m.wantSent("outbound|80||e.example.com", "192.0.2.2:80/0")
	m.Apply(entry("ns", "own", young, sprintf(static, "192.0.2.3")))
	m.wantSent("outbound|80||e.example.com", "192.0.2.3:80/0")
	kube := "hosts: [" + web + "], addresses: [240.0.0.1], ports: [{number: 80, name: http, protocol: HTTP}], resolution: STATIC, endpoints: [{address: 192.0.2.9}]"
	m = newMesh(t, service("web", "", ""), slice("a", at("10.0.0.1", "")), entry("b", "e", old, kube))
	m.wantSent(webEDS, "10.0.0.1:8080/0")
	m.Apply(entry("ns", "e", young, kube))
	m.wantSent(webEDS, "192.0.2.9:80/0")
	m = newMesh(t, entry("a", "one", old, sprintf(static, "192.0.2.1")), entry("a", "two", young, "hosts: [e.example.com], ports: [{number: 81, name: tcp, protocol: TCP}], resolution: STATIC"),
		entry("b", "three", young, "hosts: [e.example.com], ports: [{number: 82, name: tcp2, protocol: TCP}], resolution: STATIC"))
	equal(t, "port of the same namespace", m.has(client, "outbound|81||e.example.com"), true)
	equal(t, "port of another namespace", m.has(client, "outbound|82||e.example.com"), false)
}

func TestFact27EntryJoinsTheService(t *testing.T) {
	e := "hosts: [" + web + "], addresses: [240.0.0.1], ports: [{number: 80, name: %s, protocol: HTTP}], resolution: STATIC, endpoints: [{address: 192.0.2.9}]"
	m := newMesh(t, service("web", "", ""), slice("a", at("10.0.0.1", "")), entry("shop", "e", "", sprintf(e, "http")))
	equal(t, "shards", len(m.service(web).Shards), 2)
	m.wantSent(webEDS, "10.0.0.1:8080/0", "192.0.2.9:80/0")
	m.Apply(entry("shop", "e", "", sprintf(e, "other")))
	m.wantSent(webEDS, "10.0.0.1:8080/0")
}

func TestFact28Sidecars(t *testing.T) {
	for hosts, want := range map[string]bool{"shop/" + web: true, "shop/web": false, "ns/" + web: false, "./*": false, "*/*": true, "~/*": false} {
		m := newMesh(t, service("web", "", ""), istio("Sidecar", "ns", "s", "{egress: [{hosts: ['"+hosts+"']}]}"))
		equal(t, "import by "+hosts, m.has(client, webEDS), want)
	}
	m := newMesh(t, service("web", "", ""), istio("Sidecar", "istio-system", "s", "{workloadSelector: {labels: {app: client}}, egress: [{hosts: ['~/*']}]}"))
	equal(t, "root Sidecar with a selector is the default", !m.has(client, webEDS), false)
	m = newMesh(t, service("web", "", ""), istio("Sidecar", "ns", "s", "{}"))
	equal(t, "import without egress", m.has(client, webEDS), true)
	two := "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {clusterIP: 10.96.0.1, ports: [{name: http, port: 80}, {name: tcp, port: 81}]}"
	m = newMesh(t, two, istio("Sidecar", "ns", "s", "{egress: [{port: {number: 81, name: tcp, protocol: TCP}, hosts: ['*/*']}]}"))
	equal(t, "the port of the listener", m.has(client, "outbound|81||"+web), true)
	equal(t, "another port", m.has(client, webEDS), false)
	m = newMesh(t, service("web", "", ""), istio("Sidecar", "ns", "s", "{outboundTrafficPolicy: {mode: REGISTRY_ONLY}, egress: [{hosts: ['./*', 'shop/route.example.com']}]}"),
		istio("VirtualService", "shop", "v", "{hosts: [route.example.com], http: [{route: [{destination: {host: "+web+"}}]}]}"))
	equal(t, "destination of a VirtualService in scope", m.has(client, webEDS), true)
	equal(t, "PassthroughCluster", m.has(client, "PassthroughCluster"), true)
}

func TestFact29DestinationRules(t *testing.T) {
	rule := func(namespace, name, created, subset string) string {
		return sprintf("apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: %s, namespace: %s%s}\nspec: {host: %s, subsets: [{name: %s, labels: {app: %s}}]}", name, namespace, created, web, subset, name)
	}
	m := newMesh(t, service("web", "", ""), rule("istio-system", "root", "", "r"), rule("shop", "own", "", "s"))
	equal(t, "subset of the service's namespace", m.has(client, "outbound|80|s|"+web), true)
	equal(t, "subset of the root namespace", m.has(client, "outbound|80|r|"+web), false)
	m.Apply(rule("ns", "mine", "", "c"))
	equal(t, "subset of the client's namespace", m.has(client, "outbound|80|c|"+web), true)
	equal(t, "subset of the service's namespace beside it", m.has(client, "outbound|80|s|"+web), false)
	m = newMesh(t, service("web", "", ""), pod("p", "10.0.0.1", ""), slice("a", of("p", "10.0.0.1")),
		rule("shop", "web", ", creationTimestamp: '2024-03-01T00:00:01Z'", "x"), rule("shop", "late", ", creationTimestamp: '2024-03-01T00:00:02Z'", "x"), rule("shop", "more", ", creationTimestamp: '2024-03-01T00:00:03Z'", "y"))
	m.wantSent("outbound|80|x|"+web, "10.0.0.1:8080/0")
	equal(t, "subset of the third rule", m.has(client, "outbound|80|y|"+web), true)
}
