package facts

import (
	"testing"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
)

func TestServiceEntryTakesThePortsOfPods(t *testing.T) {
	const e = "e.example.com"
	spec := "hosts: [e.example.com], addresses: [240.0.0.1], ports: [{number: 80, name: http, protocol: HTTP, targetPort: 81}, {number: 90, name: dns, protocol: TCP}], resolution: STATIC, workloadSelector: {labels: %s}"
	p := "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop, labels: {app: web}}\nspec: {containers: [{name: app, ports: [{name: http, containerPort: 8080, protocol: TCP}, {name: dns, containerPort: 5353, protocol: UDP}]}]}\nstatus: {phase: Running, podIP: 10.0.0.1, conditions: [{type: Ready, status: 'True'}]}"
	m := newMesh(t, p, entry("shop", "e", "", sprintf(spec, "{app: web}")))
	m.wantSent("outbound|80||"+e, "10.0.0.1:8080/0")
	m.wantSent("outbound|90||"+e, "10.0.0.1:90/0")
	m.Apply(entry("shop", "e", "", sprintf(spec, "{}")))
	equal(t, "endpoints by an empty selector", len(m.endpoints(e)), 0)
}

func TestPeerAuthenticationOfInlineEndpoints(t *testing.T) {
	const e = "outbound|80||e.example.com"
	spec := "hosts: [e.example.com], addresses: [240.0.0.1], ports: [{number: 80, name: http, protocol: HTTP}], resolution: STATIC, location: MESH_INTERNAL, endpoints: [{address: 192.0.2.1, serviceAccount: vm}]"
	m := newMesh(t, entry("shop", "e", "", spec), istio("PeerAuthentication", "shop", "default", "{mtls: {mode: DISABLE}}"))
	equal(t, "TLS mode beside the namespace's rule", m.assignment(client, e).Localities[0].Endpoints[0].TLSMode, "istio")
	m.Apply(istio("PeerAuthentication", "istio-system", "default", "{mtls: {mode: DISABLE}}"))
	equal(t, "TLS mode with the mesh's rule", m.assignment(client, e).Localities[0].Endpoints[0].TLSMode, "")
}

func TestCapturedWorkloadEntry(t *testing.T) {
	const e = "outbound|80||e.example.com"
	m := newMesh(t, entry("shop", "e", "", selecting), workloadEntry(", annotations: {ambient.istio.io/redirection: enabled}", "", ""))
	equal(t, "tunnel without ambient", m.assignment(client, e).Localities[0].Endpoints[0].Tunnel, false)
	c := coretest.NewWith(t, registry.Features{Ambient: true})
	m = mesh{c, t}
	m.Apply(docs(proxyPod("ns", "client", "10.9.0.1", ""), entry("shop", "e", "", selecting), workloadEntry(", annotations: {ambient.istio.io/redirection: enabled}", "", "")))
	equal(t, "tunnel", m.assignment(client, e).Localities[0].Endpoints[0].Tunnel, true)
}

func TestTunnelLabel(t *testing.T) {
	const e = "outbound|80||e.example.com"
	labelled := workloadEntry(", labels: {networking.istio.io/tunnel: 'other,http'}", "", "")
	silent := "apiVersion: v1\nkind: Pod\nmetadata: {name: silent, namespace: ns}\nspec: {containers: [{name: istio-proxy, env: [{name: ISTIO_META_DISABLE_HBONE_SEND, value: 'true'}]}]}\nstatus: {phase: Running, podIP: 10.9.0.2}"
	c := coretest.NewWith(t, registry.Features{Ambient: true})
	ambient := mesh{c, t}
	ambient.Apply(docs(proxyPod("ns", "client", "10.9.0.1", ""), silent, entry("shop", "e", "", selecting), labelled))
	equal(t, "tunnel", ambient.assignment(client, e).Localities[0].Endpoints[0].Tunnel, true)
	equal(t, "cluster for tunnels", ambient.has(client, "connect_originate"), true)
	equal(t, "tunnel of a proxy that sends none", ambient.assignment("silent.ns", e).Localities[0].Endpoints[0].Tunnel, false)
	equal(t, "cluster of a proxy that sends none", ambient.has("silent.ns", "connect_originate"), false)
	// The label counts without the flag, which only the cluster needs.
	m := newMesh(t, entry("shop", "e", "", selecting), labelled)
	equal(t, "tunnel without ambient", m.assignment(client, e).Localities[0].Endpoints[0].Tunnel, true)
	equal(t, "cluster without ambient", m.has(client, "connect_originate"), false)
	m.Apply(workloadEntry(", labels: {networking.istio.io/tunnel: http, security.istio.io/tlsMode: istio}", "", ""))
	equal(t, "tunnel beside mTLS", m.assignment(client, e).Localities[0].Endpoints[0].Tunnel, false)
}

// PILOT_PREFER_SENDING_HBONE sends HBONE to those that take mTLS as well, and
// PILOT_ENABLE_SENDING_HBONE turned off leaves out the cluster for it alone.
func TestFlagsOfHBONE(t *testing.T) {
	const e, connect = "outbound|80||e.example.com", "connect_originate"
	both := workloadEntry(", labels: {networking.istio.io/tunnel: http, security.istio.io/tlsMode: istio}", "", "")
	tunnel := func(m mesh) bool { return m.assignment(client, e).Localities[0].Endpoints[0].Tunnel }
	for _, c := range []struct {
		features        registry.Features
		tunnel, cluster bool
	}{
		{registry.Features{Ambient: true}, false, true},
		{registry.Features{Ambient: true, PreferHBONE: true}, true, true},
		{registry.Features{Ambient: true, PreferHBONE: true, NoHBONE: true}, true, false},
	} {
		m := with(t, c.features, entry("shop", "e", "", selecting), both)
		equal(t, sprintf("tunnel with %+v", c.features), tunnel(m), c.tunnel)
		equal(t, sprintf("cluster with %+v", c.features), m.has(client, connect), c.cluster)
	}
	m := with(t, registry.Features{Ambient: true, PreferHBONE: true}, entry("shop", "e", "", selecting), workloadEntry("", ", serviceAccount: vm", ""))
	equal(t, "tunnel to one that takes mTLS alone", tunnel(m), false)
	// A gateway between networks takes mTLS, not HBONE.
	far := workloadEntry(", labels: {networking.istio.io/tunnel: http, security.istio.io/tlsMode: istio}", ", network: net2", "")
	for prefer, want := range map[bool]int{false: 1, true: 0} {
		m := with(t, registry.Features{Ambient: true, PreferHBONE: prefer}, entry("shop", "e", "", selecting), far, meshConfig("{}", "networks: {net2: {gateways: [{address: 203.0.113.1, port: 15443}]}}"))
		m.Apply(proxyPod("ns", "client", "10.9.0.1", ", topology.istio.io/network: net1"))
		equal(t, "endpoints by a gateway", m.assignment(client, e).Sent(), want)
	}
}

func TestDynamicDNSHasNoCluster(t *testing.T) {
	const e = "*.example.com"
	m := newMesh(t, entry("shop", "e", "", "hosts: ['"+e+"'], ports: [{number: 443, name: tls, protocol: TLS}], resolution: DYNAMIC_DNS, location: MESH_EXTERNAL"))
	equal(t, "resolution", m.definition(e).Resolution, model.DynamicDNS)
	equal(t, "cluster", m.has(client, "outbound|443||"+e), false)
}

func TestLocalityOfMoreThanThreeParts(t *testing.T) {
	m := newMesh(t, service("web", "", ""), pod("p", "10.0.0.1", ", istio-locality: a.b.c.d"), slice("a", of("p", "10.0.0.1")))
	equal(t, "locality", m.assignment(client, webEDS).Localities[0].Locality, model.Locality{Region: "a", Zone: "b", Subzone: "c"})
}

func TestLocalitiesAsWritten(t *testing.T) {
	m := newMesh(t, node("n1", "r1", "z1"), service("web", "", ""), pod("p", "10.0.0.1", ""), pod("q", "10.0.0.2", ", istio-locality: r1.z1"),
		slice("a", of("p", "10.0.0.1"), of("q", "10.0.0.2")))
	l := m.assignment(client, webEDS).Localities
	equal(t, "localities", len(l), 2)
	equal(t, "the one without an empty part at the end", l[0].Endpoints[0].Address, "10.0.0.2")
}

func TestSlicesOfTheMultiClusterAPIAreNotRead(t *testing.T) {
	s := "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: a, namespace: shop, labels: {kubernetes.io/service-name: web, multicluster.kubernetes.io/service-name: web}}\naddressType: IPv4\nports: [{name: http, port: 8080}]\nendpoints: [{addresses: [10.0.0.1]}]"
	m := newMesh(t, service("web", "", ""), s)
	equal(t, "reason", m.reason(web, "10.0.0.1"), model.ReasonSliceKindIgnored)
	m.wantSent(webEDS)
}

func TestAddressesThatHostsGetByThemselves(t *testing.T) {
	spec := "hosts: [%s], %s ports: [{number: 5432, name: tcp, protocol: TCP}], resolution: %s"
	status := "\nstatus: {addresses: [{value: 240.240.0.2, host: b.example.com}, {value: 'no address', host: c.example.com}, {value: 240.240.9.9}]}"
	m := newMesh(t,
		entry("shop", "fixed", "", sprintf(spec, "a.example.com", "addresses: [240.240.0.1],", "DNS")),
		entry("shop", "some", "", sprintf(spec, "b.example.com, c.example.com, d.example.com", "", "DNS"))+status,
		entry("shop", "wild", "", sprintf(spec, "'*.e.example.com'", "", "STATIC")),
		entry("shop", "wilder", "", sprintf(spec, "'*.f.example.com'", "", "DYNAMIC_DNS")))
	for host, want := range map[string]string{
		"a.example.com":   "",
		"b.example.com":   "240.240.0.2",
		"c.example.com":   "240.240.0.3",
		"d.example.com":   "240.240.0.4",
		"*.e.example.com": "",
		"*.f.example.com": "240.240.0.5",
	} {
		equal(t, "automatic address of "+host, m.definition(host).AutoAllocatedV4, want)
	}
}
