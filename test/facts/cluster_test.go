package facts

import (
	"slices"
	"testing"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// gatewayOf is a Service in istio-system with the hostname of a gateway.
func gatewayOf(metadata, spec, status string) string {
	return sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: gw, namespace: istio-system%s}\nspec: {clusterIP: 10.96.0.9, ports: [{name: tls, port: 15443, nodePort: 31443}]%s}\nstatus: {%s}", metadata, spec, status)
}

func nodeAt(name, label string, addresses ...string) string {
	list := ""
	for _, a := range addresses {
		list += "{type: ExternalIP, address: " + a + "}, "
	}
	return sprintf("apiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {pool: %s}}\nstatus: {addresses: [{type: InternalIP, address: 10.8.0.1}, %s]}", name, label, list)
}

func elsewhere(manifest string) string { return "$cluster: east\n" + manifest }

func (m mesh) wantGateways(what string, want ...state.Gateway) {
	m.t.Helper()
	if got := m.Snapshot().Gateways(); !slices.Equal(got, want) {
		m.t.Errorf("gateways with %s are %v, want %v", what, got, want)
	}
}

func TestGatewaysOnNodes(t *testing.T) {
	const label, selected = ", labels: {topology.istio.io/network: net2}", ", annotations: {traffic.istio.io/nodeSelector: '{\"pool\": \"edge\"}'}"
	at := func(addr string, port uint32) state.Gateway {
		return state.Gateway{Network: "net2", Cluster: "Kubernetes", Addr: addr, Port: port, HBONEPort: 15008}
	}
	nodes := docs(nodeAt("n1", "edge", "198.51.100.1", "198.51.100.2"), nodeAt("n2", "edge", "198.51.100.3"), nodeAt("n3", "inner", "198.51.100.4"), nodeAt("n4", "edge"))
	m := newMesh(t, nodes, gatewayOf(label+selected, ", type: NodePort", ""))
	m.wantGateways("a node selector", at("198.51.100.1", 31443), at("198.51.100.3", 31443))
	m.Apply(gatewayOf(label+", annotations: {traffic.istio.io/nodeSelector: ''}", ", type: NodePort", ""))
	m.wantGateways("an empty node selector", at("198.51.100.1", 31443), at("198.51.100.3", 31443), at("198.51.100.4", 31443))
	m.Apply(gatewayOf(label+selected, ", type: NodePort, externalIPs: [203.0.113.9]", ""))
	m.wantGateways("externalIPs", at("203.0.113.9", 31443))
	m.Apply(gatewayOf(label+selected, ", type: LoadBalancer", "loadBalancer: {ingress: [{ip: 203.0.113.1}]}"))
	m.wantGateways("a load balancer", at("203.0.113.1", 15443))
}

func TestGatewaysOfRegistryServices(t *testing.T) {
	balanced := func(ip, metadata string) string {
		return gatewayOf(metadata, ", type: LoadBalancer", "loadBalancer: {ingress: [{ip: "+ip+"}]}")
	}
	networks := func(registry string) string {
		return meshConfig("{}", "networks: {net2: {endpoints: [{fromRegistry: "+registry+"}], gateways: [{registryServiceName: gw.istio-system.svc.cluster.local, port: 15443}]}}")
	}
	m := newMesh(t, networks("east"), balanced("203.0.113.1", ""), elsewhere(balanced("203.0.113.2", "")))
	m.wantGateways("a registry", state.Gateway{Network: "net2", Cluster: "east", Addr: "203.0.113.2", Port: 15443})
	m.Apply(networks("west"))
	m.wantGateways("a registry that is not there")
	m.Apply(docs(networks("east"), elsewhere(balanced("203.0.113.2", ", labels: {topology.istio.io/network: net3}"))))
	m.wantGateways("a label on the Service", state.Gateway{Network: "net3", Cluster: "east", Addr: "203.0.113.2", Port: 15443, HBONEPort: 15008})
	m.Apply(meshConfig("discoverySelectors: [{matchLabels: {mesh: \"on\"}}]", ""))
	m.wantGateways("the namespace not discovered")
}

func TestNetworkOfTheWidestRange(t *testing.T) {
	m := newMesh(t, meshConfig("{}", "networks: {a: {endpoints: [{fromCidr: 10.0.0.0/24}]}, b: {endpoints: [{fromCidr: 10.0.0.0/8}]}, c: {endpoints: [{fromCidr: bad}]}}"),
		service("web", "", ""), slice("a", at("10.0.0.1", ""), at("192.0.2.1", "")))
	equal(t, "network", m.endpoints(web)[0].Workload.Network, model.NetworkID("b"))
	equal(t, "network of an address in no range", m.endpoints(web)[1].Workload.Network, model.NetworkID(""))
}

func TestExternalAddressesAreThoseOfTheFirstCluster(t *testing.T) {
	balanced := func(ip string) string {
		return service("web", "", ", type: LoadBalancer") + "\nstatus: {loadBalancer: {ingress: [{ip: " + ip + "}]}}"
	}
	m := newMesh(t, balanced("203.0.113.1"), elsewhere(balanced("203.0.113.2")))
	d := m.definition(web)
	equal(t, "clusters with external addresses", len(d.ExternalAddresses), 1)
	equal(t, "external address", d.ExternalAddresses["Kubernetes"][0], "203.0.113.1")
	equal(t, "clusters with VIPs", len(d.VIPs), 2)
}

func TestWorkloadEntriesAreSelectedInTheirCluster(t *testing.T) {
	vms := "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {clusterIP: %s, ports: [{name: http, port: 80%s}], selector: {app: vm}}"
	local := sprintf(vms, "10.96.0.1", ", targetPort: 8080")
	m := newMesh(t, local, elsewhere(sprintf(vms, "10.97.0.1", ", targetPort: 9090")), elsewhere(workloadEntry("", ", ports: {https: 1}", "")))
	e := m.endpoint(web)
	equal(t, "cluster", e.Workload.Cluster, model.ClusterID("east"))
	equal(t, "port as the Service of that cluster says", e.Port, 9090)
	equal(t, "shard", m.service(web).Shards[0].Key.String(), "Kubernetes/east")
	m.Apply(docs("$cluster: east\n$op: delete\n"+workloadEntry("", "", ""), workloadEntry("", ", ports: {http: 7070}", "")))
	equal(t, "cluster", m.endpoint(web).Workload.Cluster, model.ClusterID("Kubernetes"))
	equal(t, "port of its own", m.endpoint(web).Port, 7070)
	m.Apply(sprintf(vms, "10.96.0.1", ""))
	equal(t, "port of its own for a Service without target port", m.endpoint(web).Port, 7070)
	m.Apply(sprintf(vms, "None", ", targetPort: 8080"))
	equal(t, "endpoints of a headless Service", len(m.endpoints(web)), 0)
}

func TestWorkloadEntryBesideASlice(t *testing.T) {
	group := ", annotations: {istio.io/autoRegistrationGroup: vms}"
	vms := "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {clusterIP: 10.96.0.1, ports: [{name: http, port: 80, targetPort: 8080}], selector: {app: vm}}"
	m := newMesh(t, vms, slice("a", at("192.0.2.1", "")), workloadEntry(group, "", ""), entry("shop", "e", "", selecting))
	m.wantSent(webEDS, "192.0.2.1:8080/0", "192.0.2.1:8080/0")
	equal(t, "workload by the Service", m.endpoints(web)[1].Workload.Name, "vms")
	equal(t, "workload by the ServiceEntry", m.endpoint("e.example.com").Workload.Name, "vm")
}

func TestRemoteWorkloadEntryOfAServiceEntry(t *testing.T) {
	const e = "e.example.com"
	m := newMesh(t, entry("shop", "e", "", selecting),
		elsewhere("apiVersion: v1\nkind: Namespace\nmetadata: {name: istio-system, labels: {topology.istio.io/network: net2}}"), elsewhere(workloadEntry("", "", "")))
	equal(t, "shard", m.service(e).Shards[0].Key.String(), "External/Kubernetes")
	equal(t, "cluster", m.endpoint(e).Workload.Cluster, model.ClusterID("east"))
	equal(t, "label of the network", m.endpoint(e).Workload.Labels[model.LabelNetwork], "net2")
	equal(t, "network", m.endpoint(e).Workload.Network, model.NetworkID(""))
}

func TestNamespacesAreDiscoveredByClusterAndForAllKinds(t *testing.T) {
	on := "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {mesh: \"on\"}}"
	rule := istio("DestinationRule", "shop", "web", "{host: web, subsets: [{name: v1, labels: {version: v1}}]}")
	m := newMesh(t, meshConfig("discoverySelectors: [{matchLabels: {mesh: \"on\"}}]", ""), service("web", "", ""), slice("a", at("10.0.0.1", "")), rule,
		elsewhere(on), elsewhere(service("web", "", "")), elsewhere(slice("b", at("10.0.0.2", ""))))
	m.wantSent(webEDS, "10.0.0.2:8080/0")
	equal(t, "subset of a rule in a namespace not discovered", m.has(client, "outbound|80|v1|"+web), false)
	m.Apply(on)
	m.wantSent(webEDS, "10.0.0.1:8080/0", "10.0.0.2:8080/0")
	equal(t, "subset of the rule", m.has(client, "outbound|80|v1|"+web), true)
	m.Apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}")
	m.wantSent(webEDS, "10.0.0.2:8080/0")
	equal(t, "subset of the rule afterwards", m.has(client, "outbound|80|v1|"+web), false)
	m.Apply(meshConfig("discoverySelectors: [{matchLabels: {mesh: \"on\"}}, {matchExpressions: [{key: mesh, operator: Is}]}]", ""))
	m.wantSent(webEDS, "10.0.0.1:8080/0", "10.0.0.2:8080/0")
}

func TestRootNamespaceOfTheMesh(t *testing.T) {
	m := newMesh(t, meshConfig("rootNamespace: istio-config", ""), service("web", "", ""), slice("a", at("10.0.0.1", "")),
		istio("Sidecar", "istio-config", "default", "{egress: [{hosts: [\"./*\"]}]}"))
	equal(t, "cluster that the root's Sidecar does not import", m.has(client, webEDS), false)
	m = newMesh(t, service("web", "", ""), istio("Sidecar", "istio-config", "default", "{egress: [{hosts: [\"./*\"]}]}"))
	equal(t, "cluster beside a Sidecar of another namespace", m.has(client, webEDS), true)
}
