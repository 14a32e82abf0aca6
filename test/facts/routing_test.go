package facts

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

func TestFact30ExternalAuthorization(t *testing.T) {
	provider := "extensionProviders: [{name: p, envoyExtAuthzGrpc: {service: %s, port: 9000}}]"
	policy := istio("AuthorizationPolicy", "ns", "a", "{action: CUSTOM, provider: {name: p}, rules: [{}]}")
	authz := "apiVersion: v1\nkind: Service\nmetadata: {name: authz, namespace: auth%s}\nspec: {clusterIP: 10.96.0.9, ports: [{name: grpc, port: 9000}]}"
	refusal := func(service string, more ...string) string {
		m := newMesh(t, append([]string{meshConfig(sprintf(provider, service), ""), policy}, more...)...)
		for _, f := range cds.ExtAuthz(m.Snapshot(), m.Snapshot().Proxy(client)) {
			if f.Rules != nil && strings.Contains(fmt.Sprint(*f.Rules), "deny-due-to-bad-CUSTOM-action") {
				return "denied"
			} else if f.ClusterName != "" {
				return f.ClusterName
			}
		}
		return "nothing"
	}
	const want = "outbound|9000||authz.auth.svc.cluster.local"
	equal(t, "a service that is there", refusal("authz.auth.svc.cluster.local", sprintf(authz, "")), want)
	equal(t, "one with its namespace", refusal("auth/authz.auth.svc.cluster.local", sprintf(authz, "")), want)
	equal(t, "a private one", refusal("authz.auth.svc.cluster.local", sprintf(authz, ", annotations: {networking.istio.io/exportTo: .}")), want)
	equal(t, "a missing one", refusal("authz.auth.svc.cluster.local"), "denied")
	equal(t, "a short name", refusal("authz", sprintf(authz, "")), "denied")
	equal(t, "another namespace", refusal("ns/authz.auth.svc.cluster.local", sprintf(authz, "")), "denied")
}

// zones is a mesh whose client is in r1/z1, with an endpoint each in r1/z1 (.1),
// r1/z2 (.2) and r2/z3 (.3).
func zones(t *testing.T, more ...string) mesh {
	t.Helper()
	all := []string{service("web", "", ""), node("n1", "r1", "z1"), node("n2", "r1", "z2"), node("n3", "r2", "z3")}
	var ends []string
	for i := 1; i <= 3; i++ {
		name, ip := sprintf("p%d", i), sprintf("10.0.0.%d", i)
		all = append(all, strings.Replace(pod(name, ip, ""), "nodeName: n1", sprintf("nodeName: n%d", i), 1))
		ends = append(ends, of(name, ip))
	}
	return newMesh(t, append(append(all, slice("a", ends...)), more...)...)
}

func policy(text string) string {
	return istio("DestinationRule", "shop", "web", "{host: web, trafficPolicy: {"+text+"}}")
}

func TestFact31Priorities(t *testing.T) {
	flat := []string{"10.0.0.1:8080/0", "10.0.0.2:8080/0", "10.0.0.3:8080/0"}
	zones(t).wantSent(webEDS, flat...)
	zones(t, policy("loadBalancer: {localityLbSetting: {enabled: true}}")).wantSent(webEDS, flat...)
	zones(t, policy("outlierDetection: {consecutive5xxErrors: 5}")).wantSent(webEDS, "10.0.0.1:8080/0", "10.0.0.2:8080/1", "10.0.0.3:8080/2")
	near := zones(t, policy("outlierDetection: {consecutive5xxErrors: 5}"))
	near.Apply(slice("a", of("p3", "10.0.0.3")))
	near.wantSent(webEDS, "10.0.0.3:8080/0")
	d := zones(t, policy("loadBalancer: {localityLbSetting: {distribute: [{from: r1/z1/*, to: {r1/z1/*: 80, r1/z2/*: 20}}]}}"))
	if got := d.assignment(client, webEDS).Localities; len(got) != 3 || got[0].Weight != 80 {
		t.Errorf("distribute without outlierDetection gives %+v", got)
	}
}

func TestFact32ProxyWithoutLocality(t *testing.T) {
	m := zones(t, policy("outlierDetection: {consecutive5xxErrors: 5}"))
	m.Apply(strings.Replace(proxyPod("ns", "client", "10.9.0.1", ""), "nodeName: n1", "nodeName: none", 1))
	m.wantSent(webEDS, "10.0.0.1:8080/0", "10.0.0.2:8080/0", "10.0.0.3:8080/0")
	m = newMesh(t, service("web", "", ""), pod("p", "10.0.0.1", ", tier: a"), pod("q", "10.0.0.2", ", tier: b"), slice("a", of("p", "10.0.0.1"), of("q", "10.0.0.2")),
		proxyPod("ns", "client", "10.9.0.1", ", tier: b"), policy("outlierDetection: {consecutive5xxErrors: 5}, loadBalancer: {localityLbSetting: {failoverPriority: [tier]}}"))
	m.wantSent(webEDS, "10.0.0.1:8080/1", "10.0.0.2:8080/0")
}

func TestFact33DistributeKeepsTheOthers(t *testing.T) {
	m := zones(t, policy("loadBalancer: {localityLbSetting: {distribute: [{from: r1/z1/*, to: {r1/z1/*: 100}}]}}"))
	for _, l := range m.assignment(client, webEDS).Localities[1:] {
		equal(t, "endpoints of "+l.Locality.String(), len(l.Endpoints), 0)
		equal(t, "weight of "+l.Locality.String(), l.Weight, 1)
	}
	equal(t, "reason", m.assignment(client, webEDS).Reasons[2], model.ReasonLocalityNotDistributed)
}

func TestFact34RuleReplacesTheMeshSetting(t *testing.T) {
	m := zones(t, meshConfig("localityLbSetting: {distribute: [{from: r1/z1/*, to: {r2/z3/*: 100}}]}", ""), policy("outlierDetection: {consecutive5xxErrors: 5}"))
	m.wantSent(webEDS, "10.0.0.3:8080/0")
	m.Apply(policy("outlierDetection: {consecutive5xxErrors: 5}, loadBalancer: {localityLbSetting: {failover: [{from: r1, to: r2}]}}"))
	equal(t, "endpoints", len(m.sent(client, webEDS)), 3)
	off := zones(t, meshConfig("localityLbSetting: {enabled: false}", ""), policy("outlierDetection: {consecutive5xxErrors: 5}"))
	off.wantSent(webEDS, "10.0.0.1:8080/0", "10.0.0.2:8080/0", "10.0.0.3:8080/0")
}

const networks = "networks: {far: {gateways: [%s], endpoints: []}}"

// far is a mesh with an endpoint in the client's network (.1) and two in far.
func far(t *testing.T, gateways, client, tls string) mesh {
	t.Helper()
	in := ", topology.istio.io/network: far, security.istio.io/tlsMode: " + tls
	return newMesh(t, meshConfig("{}", sprintf(networks, gateways)), service("web", "", ""), proxyPod("ns", "client", "10.9.0.1", client),
		pod("p", "10.0.0.1", ", topology.istio.io/network: near"), pod("q", "10.0.0.2", in), pod("r", "10.0.0.3", in), slice("a", of("p", "10.0.0.1"), of("q", "10.0.0.2"), of("r", "10.0.0.3")))
}

func TestFact35Gateways(t *testing.T) {
	m := far(t, "{address: 203.0.113.1, port: 15443}, {address: 203.0.113.2, port: 15443}, {address: 203.0.113.3, port: 15443}", ", topology.istio.io/network: near", "istio")
	weights := map[string]uint32{}
	for _, l := range m.assignment(client, webEDS).Localities {
		for _, e := range l.Endpoints {
			weights[e.Address] = e.Weight
			if e.Candidate < 0 {
				equal(t, "gateway's TLS mode", e.TLSMode, "istio")
				equal(t, "gateway's workload", e.Workload, ";;;;")
				equal(t, "gateway's health", e.Health, model.HealthUnset)
			}
		}
	}
	equal(t, "weight of the direct endpoint", weights["10.0.0.1"], 3)
	equal(t, "weight of a gateway for two endpoints", weights["203.0.113.1"], 2)
	equal(t, "reason", m.assignment(client, webEDS).Reasons[1], model.ReasonReplacedByGateway)
}

func TestFact36OtherNetworkNeedsMTLS(t *testing.T) {
	m := far(t, "{address: 203.0.113.1, port: 15443}", ", topology.istio.io/network: near", "disabled")
	m.wantSent(webEDS, "10.0.0.1:8080/0")
	m = far(t, "{address: 203.0.113.1, port: 15443}", ", topology.istio.io/network: near", "istio")
	m.Apply(istio("PeerAuthentication", "shop", "none", "{mtls: {mode: DISABLE}}"))
	m.wantSent(webEDS, "10.0.0.1:8080/0")
	equal(t, "reason", m.assignment(client, webEDS).Reasons[1], model.ReasonNetworkWithoutMTLS)
}

func TestFact37DirectWithoutGateway(t *testing.T) {
	all := []string{"10.0.0.1:8080/0", "10.0.0.2:8080/0", "10.0.0.3:8080/0"}
	m := far(t, "", ", topology.istio.io/network: near", "istio")
	m.wantSent(webEDS, all...)
	m = far(t, "{address: 203.0.113.1, port: 15443}", "", "istio")
	m.wantSent(webEDS, all...)
}

func TestFact38SeveralClusters(t *testing.T) {
	remote := strings.Replace(service("web", ", annotations: {networking.istio.io/exportTo: .}, labels: {remote: 'yes'}", ""), "10.96.0.1", "10.97.0.1", 1)
	m := newMesh(t, service("web", "", ""), "$cluster: remote1\n"+remote, slice("a", at("10.0.0.1", "")), "$cluster: remote1\n"+slice("a", at("10.1.0.1", "")))
	d := m.definition(web)
	equal(t, "labels", len(d.Labels), 0)
	equal(t, "exportTo", len(d.ExportTo), 0)
	equal(t, "VIP of the first cluster", d.VIPs["Kubernetes"][0], "10.96.0.1")
	equal(t, "VIP of the second", d.VIPs["remote1"][0], "10.97.0.1")
	m.wantSent(webEDS, "10.0.0.1:8080/0", "10.1.0.1:8080/0")
	dns := strings.ReplaceAll(service("web", "", ""), "namespace: shop", "namespace: kube-system")
	end := strings.ReplaceAll(slice("a", at("10.0.0.1", "")), "namespace: shop", "namespace: kube-system")
	m = newMesh(t, dns, end, "$cluster: remote1\n"+dns, "$cluster: remote1\n"+strings.ReplaceAll(end, "10.0.0.1", "10.1.0.1"))
	m.wantSent("outbound|80||web.kube-system.svc.cluster.local", "10.0.0.1:8080/0")
}

func TestFact39ScaleToZeroAndBack(t *testing.T) {
	m := newMesh(t, service("web", "", ""), slice("a", at("10.0.0.1", "")))
	equal(t, "push to zero", m.Apply(slice("a")).Push.Scope.Type, state.PushIncremental)
	m.wantSent(webEDS)
	equal(t, "push of the return", m.Apply(slice("a", at("10.0.0.1", ""))).Push.Scope.Type, state.PushIncremental)
	m.Apply(remove(service("web", "", "")))
	equal(t, "cluster of a deleted Service", m.has(client, webEDS), false)
}

func TestFact40PodLabelsConcernItsOwnProxy(t *testing.T) {
	m := newMesh(t, service("web", "", ""), pod("p", "10.0.0.1", ""), slice("a", of("p", "10.0.0.1")))
	tr := m.Apply(proxyPod("ns", "client", "10.9.0.1", ", version: v2"))
	if !slices.Equal(tr.Push.Proxies, []string{client}) {
		t.Errorf("the proxies looked at are %v", tr.Push.Proxies)
	}
	tr = m.Apply(pod("p", "10.0.0.1", ", version: v2"))
	equal(t, "push for the services of the Pod", tr.Push.Scope.Type, state.PushIncremental)
	equal(t, "services", len(tr.Push.Scope.Services), 1)
}

func TestFact41WhatIsNoPush(t *testing.T) {
	const versioned = ", resourceVersion: '%d'%s"
	m := newMesh(t, service("web", sprintf(versioned, 1, ""), ""), slice("a", at("10.0.0.1", "")), istio("DestinationRule", "shop", "web", "{host: web}"))
	equal(t, "push of a resourceVersion", m.Apply(service("web", sprintf(versioned, 2, ""), "")).Push.Scope.Type, state.PushNone)
	equal(t, "push of an annotation", m.Apply(service("web", sprintf(versioned, 3, ", annotations: {a: b}"), "")).Push.Scope.Type, state.PushNone)
	equal(t, "push of a Service's label", m.Apply(service("web", sprintf(versioned, 4, ", labels: {a: b}"), "")).Push.Scope.Type, state.PushFull)
	rule := "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: web, namespace: shop, labels: {%s: b}}\nspec: {host: web}"
	equal(t, "push of a rule's label", m.Apply(sprintf(rule, "a")).Push.Scope.Type, state.PushNone)
	equal(t, "push of a rule's label of Istio", m.Apply(sprintf(rule, "istio.io/rev")).Push.Scope.Type, state.PushFull)
}

func TestFact42ServicesAndRulesAreFull(t *testing.T) {
	m := newMesh(t, service("web", "", ""))
	equal(t, "push of a new Service", m.Apply(service("new", "", "")).Push.Scope.Type, state.PushFull)
	equal(t, "push of a DestinationRule", m.Apply(policy("outlierDetection: {}")).Push.Scope.Type, state.PushFull)
	tr := m.Apply(istio("VirtualService", "shop", "v", "{hosts: [x.example.com]}"))
	equal(t, "push of a VirtualService", tr.Push.Scope.Type, state.PushFull)
	equal(t, "services that it changes", len(tr.Diff.Services), 0)
}

func TestFact43OtherTriggers(t *testing.T) {
	m := newMesh(t, service("web", "", ""), slice("a", at("10.0.0.1", "")))
	equal(t, "push of a Node", m.Apply(node("n9", "r1", "z1")).Push.Scope.Type, state.PushNone)
	triggers := func(text string) string { return strings.Join(m.Apply(text).Push.Triggers, ",") }
	equal(t, "triggers of the mesh configuration", triggers(meshConfig("trustDomain: corp.example", "")), "global")
	equal(t, "triggers of the networks", triggers(meshConfig("trustDomain: corp.example", sprintf(networks, "{address: 203.0.113.1, port: 15443}"))), "networks")
	m = newMesh(t, strings.Replace(service("web", "", ""), "10.96.0.1", "None", 1), slice("a", at("10.0.0.1", "")))
	equal(t, "triggers of a headless service", triggers(slice("a", at("10.0.0.1", ""), at("10.0.0.2", ""))), "endpoint,headlessendpoint")
}
