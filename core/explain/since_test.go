package explain_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/source/memory"
)

const sinceMesh = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.10, selector: {app: web}, ports: [{name: http, port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints: [{addresses: [10.1.1.1], conditions: {ready: true}}]
`

// sinceStep is a change, and the answer after it. Its failed step is dated by the change
// that made it so, which may be an earlier one.
type sinceStep struct {
	change string
	cause  explain.Cause
	since  int // the number of that change, of which the first is 1
}

// scopeSteps change what keeps the service from the proxy.
var scopeSteps = []sinceStep{
	{"apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: {name: default, namespace: client}\nspec: {egress: [{hosts: [./*]}]}\n", explain.SidecarScope, 1},
	{"apiVersion: v1\nkind: Service\nmetadata: {name: other, namespace: shop}\nspec: {clusterIP: 10.96.0.11, ports: [{name: http, port: 80}]}\n", explain.SidecarScope, 1},
	{"apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: {name: default, namespace: client}\n$op: delete\n", explain.NothingWrong, 0},
	{"apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop, annotations: {networking.istio.io/exportTo: pay}}\nspec: {clusterIP: 10.96.0.10, selector: {app: web}, ports: [{name: http, port: 80}]}\n", explain.ExportTo, 4},
	{"apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\n$op: delete\n", explain.NoService, 5},
	{"apiVersion: v1\nkind: Service\nmetadata: {name: other, namespace: shop}\n$op: delete\n", explain.NoService, 5},
}

// The parts of the mesh that the steps about the endpoint change.
const (
	sincePod    = "apiVersion: v1\nkind: Pod\nmetadata: {name: web-0, namespace: shop, labels: %s}\nspec: {containers: [{name: app}]}\nstatus: {phase: Running, podIP: 10.1.1.1, conditions: [{type: Ready, status: 'True'}]}\n"
	sinceSlice  = "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}\naddressType: IPv4\nports: [{name: %s, port: 8080}]\nendpoints: [{addresses: [10.1.1.1], conditions: {ready: %t}, targetRef: {kind: Pod, name: web-0, namespace: shop}}]\n"
	sinceClient = "apiVersion: v1\nkind: Pod\nmetadata: {name: client-0, namespace: client, labels: %s}\nspec: {containers: [{name: istio-proxy}]}\nstatus: {phase: Running, podIP: 10.1.0.1}\n"
)

// endpointSteps change what keeps the endpoint from the proxy, and what does not.
var endpointSteps = []sinceStep{
	{fmt.Sprintf(sincePod, "{app: web}"), explain.NothingWrong, 0},
	{fmt.Sprintf(sinceSlice, "htpp", true), explain.PortNameMismatch, 2},
	{fmt.Sprintf(sincePod, "{app: web, a: b}"), explain.PortNameMismatch, 2},
	{fmt.Sprintf(sinceSlice, "http", true), explain.NothingWrong, 0},
	{"apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: {name: narrow, namespace: client}\nspec: {workloadSelector: {labels: {team: a}}, egress: [{hosts: [./*]}]}\n", explain.NothingWrong, 0},
	{fmt.Sprintf(sinceClient, "{team: a}"), explain.SidecarScope, 6},
	{fmt.Sprintf(sincePod, "{app: web, a: c}"), explain.SidecarScope, 6},
	{fmt.Sprintf(sinceClient, "{topology.istio.io/network: net-a}"), explain.NothingWrong, 0},
	{fmt.Sprintf(sincePod, "{app: web, topology.istio.io/network: net-b}"), explain.NetworkWithoutGateway, 0},
	{sinceNetworks, explain.NetworkWithoutMTLS, 10},
	{fmt.Sprintf(sinceSlice, "http", false), explain.Terminating, 11},
	{fmt.Sprintf(sincePod, "{app: web, topology.istio.io/network: net-b, d: e}"), explain.Terminating, 11},
}

const (
	sinceOnNode     = "apiVersion: v1\nkind: Pod\nmetadata: {name: web-0, namespace: shop, labels: %s}\nspec: {nodeName: n1, containers: [{name: app}]}\nstatus: {phase: Running, podIP: 10.1.1.1, conditions: [{type: Ready, status: 'True'}]}\n---\n"
	sinceClientAt   = "apiVersion: v1\nkind: Pod\nmetadata: {name: client-0, namespace: client, labels: %s}\nspec: {nodeName: %s, containers: [{name: istio-proxy}]}\nstatus: {phase: Running, podIP: %s}\n"
	sinceLocal      = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {clusterIP: 10.96.0.10, internalTrafficPolicy: Local, selector: {app: web}, ports: [{name: http, port: 80}]}\n---\n"
	sinceNetworks   = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: istio, namespace: istio-system}\ndata: {mesh: '{}', meshNetworks: '{\"networks\": {\"net-b\": {\"gateways\": [{\"address\": \"203.0.113.2\", \"port\": 15443}]}}}'}\n"
	sinceDistribute = "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: web, namespace: shop}\nspec: {host: web, trafficPolicy: {outlierDetection: {consecutive5xxErrors: 5}, loadBalancer: {localityLbSetting: {distribute: [{from: r2/*, to: {r2/*: 100}}]}}}}\n---\n"
)

// placeSteps move the proxy to another node, and change what does not matter there.
var placeSteps = []sinceStep{
	{sinceLocal + fmt.Sprintf(sinceOnNode, "{app: web}") + fmt.Sprintf(sinceSlice, "http", true), explain.NothingWrong, 0},
	{fmt.Sprintf(sinceClientAt, "{app: client}", "n2", "10.1.0.1"), explain.NodeLocal, 2},
	{fmt.Sprintf(sinceClientAt, "{app: client, a: b}", "n2", "10.1.0.2"), explain.NodeLocal, 2},
	{fmt.Sprintf(sinceOnNode, "{app: web, a: b}"), explain.NodeLocal, 2},
}

// localitySteps move the proxy to another region.
var localitySteps = []sinceStep{
	{sinceDistribute + fmt.Sprintf(sinceOnNode, "{app: web}") + fmt.Sprintf(sinceSlice, "http", true), explain.NoDistributeRule, 0},
	{fmt.Sprintf(sinceClientAt, "{app: client}", "n2", "10.1.0.1"), explain.LocalityNotDistributed, 2},
	{fmt.Sprintf(sinceClientAt, "{app: client, a: b}", "n2", "10.1.0.2"), explain.LocalityNotDistributed, 2},
}

// networkSteps move the proxy to another network.
var networkSteps = []sinceStep{
	{sinceNetworks, explain.NothingWrong, 0},
	{fmt.Sprintf(sincePod, "{app: web, topology.istio.io/network: net-b}") + "---\n" + fmt.Sprintf(sinceSlice, "http", true), explain.ProxyWithoutNetwork, 0},
	{fmt.Sprintf(sinceClient, "{topology.istio.io/network: net-a}"), explain.NetworkWithoutMTLS, 3},
	{fmt.Sprintf(sinceClient, "{topology.istio.io/network: net-a, a: b}"), explain.NetworkWithoutMTLS, 3},
}

// TestSince dates the failed step by what it looks at, and by nothing else.
func TestSince(t *testing.T) {
	for name, steps := range map[string][]sinceStep{
		"scope": scopeSteps, "endpoint": endpointSteps, "place": placeSteps, "locality": localitySteps, "network": networkSteps,
	} {
		t.Run(name, func(t *testing.T) { checkSince(t, steps) })
	}
}

// checkSince takes steps a minute apart.
func checkSince(t *testing.T, steps []sinceStep) {
	t.Helper()
	start := time.Date(2024, 3, 2, 3, 4, 5, 0, time.UTC)
	now := start
	clock := func() time.Time { return now }
	store := memory.New("test", clock)
	core := control.New(control.Options{Source: store, Now: clock})
	b := &bench{core: core, store: store, explainer: explain.New(explain.Options{Objects: store, Journal: core.Journal()})}
	b.putBase(t)
	b.put(t, sinceMesh, "Kubernetes")
	store.Attach(core)
	core.Flush()
	for i, s := range steps {
		now = now.Add(time.Minute)
		b.put(t, s.change, "Kubernetes")
		core.Flush()
		a := b.explainer.Explain(core.Snapshot(), explain.Question{Proxy: "client-0.client", Host: "web.shop.svc.cluster.local", Port: 80, Address: "10.1.1.1"}, nil)
		if a.Cause != s.cause {
			t.Fatalf("after step %d: %s", i+1, a.Sentence)
		}
		for _, step := range a.Steps {
			want := start.Add(time.Duration(s.since) * time.Minute)
			if step.Verdict == explain.VerdictFailed && (!step.Since.Equal(want) || step.AtLeast) {
				t.Errorf("after step %d: %s since %s, at least %t; want %s", i+1, a.Cause, step.Since, step.AtLeast, want)
			}
		}
	}
}
