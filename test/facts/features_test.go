package facts

import (
	"slices"
	"testing"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/state"
)

// with is a mesh whose istiod is started with features.
func with(t *testing.T, features registry.Features, manifests ...string) mesh {
	t.Helper()
	m := mesh{coretest.NewWith(t, features), t}
	m.Apply(docs(append([]string{proxyPod("ns", "client", "10.9.0.1", "")}, manifests...)...))
	return m
}

// PILOT_SEND_UNHEALTHY_ENDPOINTS sends what is not ready, but not what terminates.
func TestSendUnhealthy(t *testing.T) {
	endpoints := slice("a", at("10.0.0.1", ""), at("10.0.0.2", "ready: false, terminating: false"), at("10.0.0.3", "ready: false"))
	m := with(t, registry.Features{}, service("web", "", ""), endpoints)
	m.wantSent(webEDS, "10.0.0.1:8080/0")
	equal(t, "unhealthy is sent", m.endpoints(web)[1].SendUnhealthy, false)
	m = with(t, registry.Features{SendUnhealthy: true}, service("web", "", ""), endpoints)
	m.wantSent(webEDS, "10.0.0.1:8080/0", "10.0.0.2:8080/0")
	equal(t, "unhealthy is sent", m.endpoints(web)[1].SendUnhealthy, true)
	newcomer := m.Apply(slice("b", at("10.0.0.4", "ready: false, terminating: false")))
	equal(t, "push of an unhealthy newcomer", newcomer.Push.Scope.Type, state.PushIncremental)
}

const dualPod = `apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, labels: {app: web}}
spec: {nodeName: n1, containers: [{name: app}]}
status: {phase: Running, podIP: 10.0.0.1, podIPs: [{ip: 10.0.0.1}, {ip: "fd00::1"}], conditions: [{type: Ready, status: 'True'}]}`

// ISTIO_DUAL_STACK makes the slices of both families one endpoint with both
// addresses of the Pod.
func TestDualStack(t *testing.T) {
	selecting := entry("shop", "e", "", "hosts: [e.example.org], resolution: STATIC, ports: [{name: http, number: 80}], workloadSelector: {labels: {app: web}}")
	dual := service("web", "", ", clusterIPs: [10.96.0.1, \"fd00:96::1\"]")
	manifests := []string{dual, dualPod, slice("a", of("web-1", "10.0.0.1")), slice("b", of("web-1", "\"fd00::1\"")), selecting}
	m := with(t, registry.Features{}, manifests...)
	m.wantSent(webEDS, "10.0.0.1:8080/0", "fd00::1:8080/0")
	m = with(t, registry.Features{DualStack: true}, manifests...)
	m.wantSent(webEDS, "10.0.0.1:8080/0")
	both := []string{"10.0.0.1", "fd00::1"}
	for _, host := range []string{web, "e.example.org"} {
		if got := m.endpoint(host).Addresses; !slices.Equal(got, both) {
			t.Errorf("%s has the addresses %v, want %v", host, got, both)
		}
	}
	equal(t, "reason of the other family's", m.reason(web, "fd00::1"), model.ReasonDuplicateAddress)
	if got := m.assignment(client, webEDS).Localities[0].Endpoints[0].More; !slices.Equal(got, both[1:]) {
		t.Errorf("sent besides: %v", got)
	}
	// In a Service of one family they stay two.
	m.Apply(service("web", "", ""))
	m.wantSent(webEDS, "10.0.0.1:8080/0", "fd00::1:8080/0")
	m.Apply(dual)
	m.wantSent(webEDS, "10.0.0.1:8080/0")
	// When the Pod has one address only, its slices are endpoints of their own.
	m.Apply(pod("web-1", "10.0.0.1", ""))
	m.wantSent(webEDS, "10.0.0.1:8080/0", "fd00::1:8080/0")
}

// The network that the mesh's networks give a cluster is a label of its proxies,
// too, by which they are near to endpoints.
func TestNetworkOfProxyLabels(t *testing.T) {
	far := "apiVersion: v1\nkind: Pod\nmetadata: {name: far, namespace: shop, labels: {app: web}}\nspec: {nodeName: n2, containers: [{name: app}]}\nstatus: {phase: Running, podIP: 10.0.0.2, conditions: [{type: Ready, status: 'True'}]}"
	near := []string{
		node("n1", "r1", "z1"), node("n2", "r1", "z2"), service("web", "", ", trafficDistribution: PreferClose"),
		pod("web-1", "10.0.0.1", ""), far, slice("a", of("web-1", "10.0.0.1"), of("far", "10.0.0.2")),
	}
	m := newMesh(t, near...)
	m.wantSent(webEDS, "10.0.0.1:8080/0", "10.0.0.2:8080/1")
	m.Apply(meshConfig("", "networks: {net1: {endpoints: [{fromRegistry: Kubernetes}]}}"))
	m.wantSent(webEDS, "10.0.0.1:8080/0", "10.0.0.2:8080/1")
	m.Apply(meshConfig("", "networks: {net1: {endpoints: [{fromCidr: 10.0.0.0/8}]}}"))
	m.wantSent(webEDS, "10.0.0.1:8080/0", "10.0.0.2:8080/1")
}

// WorkloadEntries are for clients of every cluster, whether exported or not.
func TestWorkloadEntriesNeedNoExport(t *testing.T) {
	vm := istio("WorkloadEntry", "shop", "vm", "{address: 10.1.0.9, labels: {app: web}}")
	m := with(t, registry.Features{ServiceExports: true}, service("web", "", ""), "$cluster: remote1\n"+service("web", "", ""), "$cluster: remote1\n"+vm)
	m.wantSent(webEDS, "10.1.0.9:8080/0")
}
