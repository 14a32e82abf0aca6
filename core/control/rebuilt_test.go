package control_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/state"
)

// TestIncrementalEqualsRebuilt applies random sequences of events, in turns of
// random length, and holds the snapshot against the one of a core that starts
// anew on the same objects.
func TestIncrementalEqualsRebuilt(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var features registry.Features
		if rapid.IntRange(0, 3).Draw(r, "clusterset") == 0 {
			features = registry.Features{ServiceExports: true, ServiceImports: true}
		}
		core := coretest.NewWith(t, features)
		version := 0
		for range rapid.IntRange(1, 12).Draw(r, "turns") {
			var docs []string
			for range rapid.IntRange(1, 4).Draw(r, "events") {
				version++
				docs = append(docs, event(r, version))
			}
			for _, d := range docs {
				core.Put(d)
			}
			if bad := unpushed(core.Flush()); bad != "" {
				r.Fatalf("after\n%s\n%s", strings.Join(docs, "---\n"), bad)
			}
			living, fresh := coretest.Dump(core.Snapshot()), coretest.Dump(core.Rebuilt().Snapshot())
			if living != fresh {
				r.Fatalf("after\n%s\nthe living state differs from the rebuilt one:\n%s", strings.Join(docs, "---\n"), cmp.Diff(strings.Split(fresh, "\n"), strings.Split(living, "\n")))
			}
		}
	})
}

// unpushed says what a proxy sees differently although the push decision leaves it
// out, "" if there is nothing.
func unpushed(t *journal.Transition) string {
	if t == nil || t.Push.Scope.Type == state.PushFull {
		return ""
	}
	for next := range t.Next.Proxies() {
		prev := t.Prev.Proxy(next.ID)
		if prev == nil || slices.Contains(t.Push.Proxies, next.ID) {
			continue // it gets everything anew
		}
		before := map[string]*cds.Cluster{}
		for _, c := range cds.Build(t.Prev, prev) {
			before[c.Name] = &c
		}
		after := cds.Build(t.Next, next)
		if len(before) != len(after) {
			return fmt.Sprintf("proxy %s has other clusters, and the push is %s: %s", next.ID, t.Push.Scope.Type, t.Push.Because)
		}
		for i := range after {
			if bad := unpushedCluster(t, before[after[i].Name], &after[i]); bad != "" {
				return fmt.Sprintf("proxy %s: %s; the push is %s: %s", next.ID, bad, t.Push.Scope.Type, t.Push.Because)
			}
		}
	}
	return ""
}

func unpushedCluster(t *journal.Transition, before, after *cds.Cluster) string {
	if before == nil {
		return "the cluster " + after.Name + " is new"
	}
	if before.Type != after.Type || inline(before) != inline(after) {
		return "the cluster " + after.Name + " differs"
	}
	a, b := before.Assignment(), after.Assignment()
	if a == nil || b == nil || proto.Equal(a.Message(), b.Message()) || slices.Contains(t.Push.Scope.Services, after.Service.Key) {
		return ""
	}
	return fmt.Sprintf("the endpoints of %s differ:\n%v\n%v", after.Name, a.Message(), b.Message())
}

func inline(c *cds.Cluster) string {
	if c.Inline == nil {
		return ""
	}
	return c.Inline.Message().String()
}

// events are the kinds of events. Each makes a manifest of an object with few
// possible names, so that events meet.
var events = []struct {
	name string
	make func(r *rapid.T) string
}{
	{"service", aService},
	{"slice", aSlice},
	{"pod", aPod},
	{"node", aNode},
	{"namespace", aNamespace},
	{"mesh", aMesh},
	{"service entry", aServiceEntry},
	{"workload entry", aWorkloadEntry},
	{"config", aConfig},
	{"export", anExport},
}

// event draws a kind, an object of it, and whether it is deleted.
func event(r *rapid.T, version int) string {
	kind := rapid.SampledFrom(events).Draw(r, "kind")
	text := strings.ReplaceAll(kind.make(r), "VERSION", fmt.Sprint(version))
	if rapid.IntRange(0, 3).Draw(r, "delete") == 0 {
		text = "$op: delete\n" + text
	}
	return text
}

// of draws one of the texts.
func of(r *rapid.T, label string, values ...string) string {
	return rapid.SampledFrom(values).Draw(r, label)
}

// meta draws the cluster, and writes kind and metadata.
func meta(r *rapid.T, api, kind, namespace, name string, more ...string) string {
	if namespace != "" {
		namespace = ", namespace: " + namespace
	}
	return fmt.Sprintf("$cluster: %s\napiVersion: %s\nkind: %s\nmetadata: {name: %s%s, resourceVersion: 'VERSION'%s}\n",
		of(r, "cluster", "Kubernetes", "Kubernetes", "remote1"), api, kind, name, namespace, strings.Join(more, ""))
}

func labels(r *rapid.T) string {
	return ", labels: {" + of(r, "labels", "", "app: web", "app: web, version: v1", "app: api",
		"app: web, istio.io/draining: 'true'", "app: web, topology.istio.io/network: net2", "app: api, istio-locality: r9.z9") + "}"
}

func aService(r *rapid.T) string {
	return meta(r, "v1", "Service", of(r, "namespace", "a", "b"), of(r, "name", "web", "api"),
		of(r, "labels", "", ", labels: {istio.io/persistent-session: c}", ", labels: {topology.istio.io/network: net2}"),
		of(r, "annotations", "", ", annotations: {networking.istio.io/exportTo: '~'}", ", annotations: {networking.istio.io/traffic-distribution: PreferClose}",
			", annotations: {traffic.istio.io/nodeSelector: '{\"pool\":\"x\"}'}")) +
		of(r, "spec", "spec: {clusterIP: 10.96.0.1, ports: [{name: http, port: 80, targetPort: 8080}], selector: {app: web}}",
			"spec: {clusterIP: None, ports: [{name: http, port: 80, targetPort: web}], selector: {app: web}}",
			"spec: {type: ExternalName, externalName: api.example.com}",
			"spec: {type: LoadBalancer, clusterIP: 10.96.0.1, externalIPs: [198.51.100.1], ports: [{name: tcp, port: 81, nodePort: 30081}], selector: {app: api}}") + "\n"
}

func aSlice(r *rapid.T) string {
	var b strings.Builder
	b.WriteString(meta(r, "discovery.k8s.io/v1", "EndpointSlice", of(r, "namespace", "a", "b"), of(r, "name", "s1", "s2", "s3"),
		of(r, "service", "", ", labels: {kubernetes.io/service-name: web}", ", labels: {kubernetes.io/service-name: api}")))
	fmt.Fprintf(&b, "addressType: %s\n", of(r, "type", "IPv4", "IPv4", "IPv4", "FQDN"))
	b.WriteString(of(r, "ports", "ports: [{name: http, port: 8080}]\n", "ports: [{name: http, port: 8080}, {name: tcp, port: 81}]\n", "ports: []\n", "ports: [{port: 8080}]\n"))
	b.WriteString("endpoints:\n")
	for range rapid.IntRange(1, 3).Draw(r, "endpoints") {
		fmt.Fprintf(&b, "- {addresses: [%s], conditions: {%s}%s}\n", of(r, "address", "10.0.0.1", "10.0.0.2", "10.0.0.3"),
			of(r, "conditions", "", "ready: true", "ready: false", "ready: false, serving: true, terminating: true", "ready: false, terminating: false"),
			of(r, "target", "", ", targetRef: {kind: Pod, namespace: a, name: p1}", ", targetRef: {kind: Pod, namespace: b, name: p2}", ", targetRef: {kind: Node, name: n1}"))
	}
	return b.String()
}

func aPod(r *rapid.T) string {
	return meta(r, "v1", "Pod", of(r, "namespace", "a", "b"), of(r, "name", "p1", "p2", "p3"), labels(r),
		of(r, "deleting", "", "", ", deletionTimestamp: '2024-03-01T00:00:00Z'")) +
		fmt.Sprintf("spec: {nodeName: %s, serviceAccountName: %s, containers: [{name: %s}]}\n",
			of(r, "node", "n1", "n2"), of(r, "account", "x", "y"), of(r, "container", "app", "istio-proxy")) +
		fmt.Sprintf("status: {phase: %s, podIP: %s, conditions: [{type: Ready, status: '%s'}]}\n",
			of(r, "phase", "Running", "Running", "Failed"), of(r, "ip", "''", "10.0.0.1", "10.0.0.2", "10.0.0.3"), of(r, "ready", "True", "False"))
}

func aNode(r *rapid.T) string {
	return meta(r, "v1", "Node", "", of(r, "name", "n1", "n2"),
		of(r, "labels", "", ", labels: {topology.kubernetes.io/region: r1, topology.kubernetes.io/zone: z1}", ", labels: {topology.kubernetes.io/region: r2, pool: x}")) +
		"status: {addresses: [{type: ExternalIP, address: 203.0.113.9}]}\n"
}

func aNamespace(r *rapid.T) string {
	return meta(r, "v1", "Namespace", "", of(r, "name", "a", "b", "istio-system"),
		of(r, "labels", "", ", labels: {mesh: 'on'}", ", labels: {topology.istio.io/network: net1}"))
}

func aMesh(r *rapid.T) string {
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: istio, namespace: istio-system, resourceVersion: 'VERSION'}\ndata:\n"
	return text + fmt.Sprintf("  mesh: '%s'\n  meshNetworks: '%s'\n",
		of(r, "mesh", "{}", "trustDomain: corp.example", "discoverySelectors: [{matchLabels: {mesh: \"on\"}}]"),
		of(r, "networks", "{}", "networks: {net2: {endpoints: [{fromCidr: 10.0.0.0/31}], gateways: [{address: 203.0.113.1, port: 15443}]}}",
			"networks: {net2: {endpoints: [{fromRegistry: remote1}], gateways: [{registryServiceName: web.a.svc.cluster.local, port: 81}]}}"))
}

func aServiceEntry(r *rapid.T) string {
	return meta(r, "networking.istio.io/v1", "ServiceEntry", of(r, "namespace", "a", "b"), of(r, "name", "e1", "e2", "e3"),
		of(r, "created", "", ", creationTimestamp: '2024-03-01T00:00:01Z'", ", creationTimestamp: '2024-03-01T00:00:02Z'")) +
		fmt.Sprintf("spec: {hosts: [%s], ports: [{number: 80, name: http, protocol: HTTP}], resolution: %s, location: MESH_INTERNAL%s%s}\n",
			of(r, "hosts", "x.example.com", "x.example.com, y.example.com", "web.a.svc.cluster.local"), of(r, "resolution", "STATIC", "DNS", "NONE"),
			of(r, "addresses", "", ", addresses: [240.0.0.1]", ", addresses: [240.0.0.1, 240.0.0.2]"),
			of(r, "endpoints", "", ", endpoints: [{address: 192.0.2.1}, {address: 192.0.2.2, weight: 3}]", ", workloadSelector: {labels: {app: web}}", ", workloadSelector: {labels: {app: api}}"))
}

func aWorkloadEntry(r *rapid.T) string {
	return meta(r, "networking.istio.io/v1", "WorkloadEntry", of(r, "namespace", "a", "b"), of(r, "name", "w1", "w2"), labels(r),
		of(r, "annotations", "", ", annotations: {proxy.istio.io/health-checks-enabled: 'true'}")) +
		fmt.Sprintf("spec: {address: %s, labels: {app: %s}, ports: {http: 8888}}\n", of(r, "address", "192.0.2.8", "vm.example.com", "''"), of(r, "app", "web", "api")) +
		of(r, "status", "", "status: {conditions: [{type: Healthy, status: 'True'}]}\n")
}

func aConfig(r *rapid.T) string {
	kind := of(r, "kind", "DestinationRule", "Sidecar", "VirtualService", "Gateway", "WorkloadGroup", "PeerAuthentication", "AuthorizationPolicy")
	api := "networking.istio.io/v1"
	if kind == "PeerAuthentication" || kind == "AuthorizationPolicy" {
		api = "security.istio.io/v1"
	}
	return meta(r, api, kind, of(r, "namespace", "a", "istio-system"), "c1") + "spec: {}\n"
}

func anExport(r *rapid.T) string {
	return meta(r, "multicluster.x-k8s.io/v1alpha1", of(r, "kind", "ServiceExport", "ServiceImport"), of(r, "namespace", "a", "b"), of(r, "name", "web", "api")) +
		of(r, "spec", "spec: {ips: [10.99.0.1]}\n", "spec: {ips: []}\n", "")
}
