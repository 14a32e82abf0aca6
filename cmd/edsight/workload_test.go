package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// workloadPod is a Pod with a proxy, of the Deployment client-v1, on a node.
func workloadPod(name, node, ip string) string {
	return fmt.Sprintf(`---
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: shop, labels: {app: client}}
spec: {nodeName: %s, containers: [{name: app}, {name: istio-proxy}]}
status: {phase: Running, podIP: %[3]s, podIPs: [{ip: %[3]s}], conditions: [{type: Ready, status: "True"}]}
`, name, node, ip)
}

// localWeb is a Service that only Pods of its node reach, and a Pod behind it.
const localWeb = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  clusterIP: 10.96.0.10
  internalTrafficPolicy: Local
  ports: [{name: http, port: 80}]
---
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: shop}
spec: {nodeName: node-a, containers: [{name: app}]}
status: {phase: Running, podIP: 10.1.0.5, podIPs: [{ip: 10.1.0.5}], conditions: [{type: Ready, status: "True"}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-x7k2p, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints: [{addresses: [10.1.0.5], nodeName: node-a, targetRef: {kind: Pod, name: web-0, namespace: shop}, conditions: {ready: true}}]
`

// TestExplainWorkload: instead of a Pod the question may name its workload, as its label
// or its controller does.
func TestExplainWorkload(t *testing.T) {
	const target = "web.shop.svc.cluster.local:80"
	client := func(i int, node string) string {
		return workloadPod(fmt.Sprintf("client-v1-6f7c9-%d", i), node, fmt.Sprintf("10.9.0.%d", i))
	}
	alike := file(t, "alike.yaml", localWeb+client(1, "node-a")+client(2, "node-a"))
	for _, name := range []string{"client.shop", "client-v1.shop", "client-v1-6f7c9.shop"} {
		out, said, code := explained(t, name, target, "--from", alike)
		want := "2 proxies of " + name + ", with the same answer; this is that of client-v1-6f7c9-1.shop:\n\nclient-v1-6f7c9-1.shop has 10.1.0.5:8080"
		if code != 0 || !strings.HasPrefix(out, want) || !strings.Contains(out, "✓ source") {
			t.Errorf("%s: ends with %d: %s%s", name, code, said, out)
		}
	}
	differ := file(t, "differ.yaml", localWeb+client(1, "node-a")+client(2, "node-b")+client(3, "node-b"))
	out, said, code := explained(t, "client.shop", target, "--from", differ)
	for _, want := range []string{"3 proxies of client.shop, with different answers", "\nclient-v1-6f7c9-1.shop: client.shop has", "\nclient-v1-6f7c9-2.shop, client-v1-6f7c9-3.shop: client.shop does not have"} {
		if code != exitAbsent || !strings.Contains(out, want) {
			t.Errorf("ends with %d and lacks %q: %s%s", code, want, said, out)
		}
	}
	var list []answered
	out, _, code = explained(t, "client.shop", target, "--from", differ, "-o", "json")
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != exitAbsent || len(list) != 3 || !list[0].Present || list[1].Present {
		t.Errorf("in JSON: ends with %d: %v: %s", code, err, out)
	}
	if _, said, code = explained(t, "client.shop", target, "--from", differ, "--envoy", "x"); code != exitTrouble || !strings.Contains(said, "about one proxy") {
		t.Errorf("with --envoy: ends with %d: %s", code, said)
	}
}

// TestExplainNamesNearProxies: a Pod that is gone has others of its workload.
func TestExplainNamesNearProxies(t *testing.T) {
	from := file(t, "mesh.yaml", localWeb+workloadPod("client-v1-6f7c9-aaaaa", "node-a", "10.9.0.1"))
	for _, proxy := range []string{"client-v1-6f7c9-zzzzz.shop", "client", "clien.shop"} {
		out, said, code := explained(t, proxy, "web.shop.svc.cluster.local:80", "--from", from)
		if code != exitTrouble || out != "" || !strings.Contains(said, "no proxy "+proxy+"\n  Did you mean client-v1-6f7c9-aaaaa.shop? /proxies/") {
			t.Errorf("%s: ends with %d: %s%s", proxy, code, said, out)
		}
	}
	_, said, _ := explained(t, "client-v1-1234567890-zzzzz.shop", "web.shop.svc.cluster.local:80", "--from", from)
	if !strings.Contains(said, "  There is now client-v1-6f7c9-aaaaa.shop\n") {
		t.Errorf("of a Deployment that has moved on: %s", said)
	}
	if _, said, _ = explained(t, "other-v1-1234567890-zzzzz.shop", "web.shop.svc.cluster.local:80", "--from", from); strings.Contains(said, "client") {
		t.Errorf("of nothing that there is: %s", said)
	}
}
