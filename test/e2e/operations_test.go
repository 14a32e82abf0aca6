package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/edsight/edsight/test/kubetest"
)

// operations draws operations on objects of few names, so that they meet.
type operations struct {
	*rand.Rand
	k *kubetest.Cluster
	// kubeconfigs of one more cluster of the mesh, with different credentials.
	kubeconfigs []string
}

// objects are the kinds of objects. Each draws a manifest.
var objects = []func(*operations) string{
	(*operations).service, (*operations).service, (*operations).pod, (*operations).pod, (*operations).pod, (*operations).status,
	(*operations).status, (*operations).slice, (*operations).node, (*operations).namespace, (*operations).mesh, (*operations).secret,
	(*operations).serviceEntry, (*operations).workloadEntry, (*operations).destinationRule, (*operations).sidecar,
	(*operations).virtualService, (*operations).gateway, (*operations).workloadGroup, (*operations).security, (*operations).export,
}

// lasting are the objects that are changed, never deleted.
var lasting = []string{"kind: Namespace", "subresource: status"}

// draw returns a manifest and whether its object is to be deleted.
func (o *operations) draw() (manifest string, remove bool) {
	manifest = objects[o.IntN(len(objects))](o)
	for _, l := range lasting {
		if strings.Contains(manifest, l) {
			return manifest, false
		}
	}
	return manifest, o.IntN(4) == 0
}

func (o *operations) of(values ...string) string { return values[o.IntN(len(values))] }

// head is kind and metadata of an object in one of two namespaces.
func (o *operations) head(api, kind string, names ...string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {namespace: %s, name: %s", api, kind, o.of("a", "b"), o.of(names...))
}

func (o *operations) service() string {
	return o.head("v1", "Service", "web", "api", "db") +
		o.of("", ", labels: {topology.istio.io/network: net2}", ", labels: {istio.io/persistent-session: c}") +
		o.of("", "", ", annotations: {networking.istio.io/exportTo: '.'}", ", annotations: {networking.istio.io/traffic-distribution: PreferClose}") + "}\n" +
		o.of("spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}",
			"spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: web}, {name: tcp, port: 81}]}",
			"spec: {selector: {app: api}, publishNotReadyAddresses: true, ports: [{name: grpc, port: 80}]}",
			"spec: {selector: {app: api}, internalTrafficPolicy: Local, ports: [{name: http, port: 80}]}",
			"spec: {clusterIP: None, selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}",
			"spec: {type: ExternalName, externalName: api.example.com, ports: [{name: http, port: 80}]}",
			"spec: {ports: [{name: http, port: 80}]}")
}

func (o *operations) pod() string {
	return o.head("v1", "Pod", "p1", "p2", "p3", "p4", "p5", "p6") + ", labels: {" +
		o.of("app: web", "app: web", "app: api", "app: web, version: v2", "app: web, istio.io/draining: 'true'", "app: api, topology.istio.io/network: net2") + "}}\n" +
		fmt.Sprintf("spec: {nodeName: %s, serviceAccountName: %s, containers: [{name: app, image: app, ports: [{name: web, containerPort: 8080}]}%s]}",
			o.of("n1", "n2"), o.of("one", "two"), o.of("", ", {name: istio-proxy, image: proxy}"))
}

// status is what a kubelet reports; the Pod may be absent.
func (o *operations) status() string {
	return o.head("v1", "Pod", "p1", "p2", "p3", "p4", "p5", "p6") + "}\nsubresource: status\n" +
		fmt.Sprintf("status: {phase: %s, podIP: 10.0.0.%d, podIPs: [{ip: 10.0.0.%[2]d}], conditions: [{type: Ready, status: '%s'}]}",
			o.of("Running", "Running", "Running", "Failed"), o.IntN(9)+1, o.of("True", "True", "False"))
}

// slice is one that no controller writes.
func (o *operations) slice() string {
	text := o.head("discovery.k8s.io/v1", "EndpointSlice", "s1", "s2") +
		o.of("", ", labels: {kubernetes.io/service-name: web}", ", labels: {kubernetes.io/service-name: db}") + "}\naddressType: IPv4\n" +
		o.of("ports: [{name: http, port: 8080}]", "ports: [{name: http, port: 8080}, {name: tcp, port: 81}]", "ports: []") + "\nendpoints:\n"
	for n := range o.IntN(3) + 1 {
		text += fmt.Sprintf("- {addresses: [10.0.%d.%d], conditions: {%s}%s}\n", o.IntN(2), n+1,
			o.of("", "ready: true", "ready: false", "ready: false, serving: true, terminating: true"),
			o.of("", ", targetRef: {kind: Pod, namespace: a, name: p1}", ", targetRef: {kind: Pod, namespace: b, name: p2}"))
	}
	return text
}

func (o *operations) node() string {
	return fmt.Sprintf("apiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {topology.kubernetes.io/region: %s, topology.kubernetes.io/zone: %s}}\n",
		o.of("n1", "n2"), o.of("r1", "r2"), o.of("z1", "z2"))
}

func (o *operations) namespace() string {
	return fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s%s}\n", o.of("a", "b", "istio-system"),
		o.of("", ", labels: {mesh: 'on'}", ", labels: {topology.istio.io/network: net1}"))
}

func (o *operations) mesh() string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: istio, namespace: istio-system}\ndata:\n  mesh: '%s'\n  meshNetworks: '%s'\n",
		o.of("{}", "trustDomain: corp.example", `discoverySelectors: [{matchLabels: {mesh: "on"}}]`, `defaultServiceExportTo: ["."]`),
		o.of("{}", "networks: {net2: {endpoints: [{fromCidr: 10.0.0.0/30}], gateways: [{address: 203.0.113.1, port: 15443}]}}",
			"networks: {net2: {endpoints: [{fromRegistry: other}], gateways: [{registryServiceName: web.a.svc.cluster.local, port: 80}]}}"))
}

// secret is that of the other cluster of the mesh.
func (o *operations) secret() string {
	return "apiVersion: v1\nkind: Secret\nmetadata: {name: remote, namespace: istio-system, labels: {istio/multiCluster: 'true'}}\n" +
		"data: {other: " + o.of(o.kubeconfigs...) + "}\n"
}

func (o *operations) serviceEntry() string {
	return o.head("networking.istio.io/v1", "ServiceEntry", "e1", "e2") + "}\n" +
		fmt.Sprintf("spec: {hosts: [%s], location: %s, exportTo: [%s], ports: [{number: 80, name: http, protocol: HTTP}], %s}",
			o.of("ext.example.com", "web.a.svc.cluster.local", "other.example.com, ext.example.com"), o.of("MESH_INTERNAL", "MESH_EXTERNAL"), o.of("'*'", "'.'"),
			o.of("resolution: STATIC, endpoints: [{address: 192.0.2.1}, {address: 192.0.2.2, weight: 3}]",
				"resolution: STATIC, workloadSelector: {labels: {app: web}}", "resolution: DNS, endpoints: [{address: db.example.com}]", "resolution: NONE"))
}

func (o *operations) workloadEntry() string {
	return o.head("networking.istio.io/v1", "WorkloadEntry", "w1", "w2") + "}\n" +
		fmt.Sprintf("spec: {address: 192.0.2.%d, serviceAccount: %s, labels: {app: %s}}", o.IntN(3)+1, o.of("one", "vm"), o.of("web", "api"))
}

func (o *operations) destinationRule() string {
	return o.head("networking.istio.io/v1", "DestinationRule", "d1", "d2") + "}\n" +
		fmt.Sprintf("spec: {host: %s, subsets: [{name: v2, labels: {version: v2}}], trafficPolicy: {%s}}", o.of("web", "api.b.svc.cluster.local", "ext.example.com"),
			o.of("", "outlierDetection: {}", "tls: {mode: ISTIO_MUTUAL}", "loadBalancer: {localityLbSetting: {enabled: true, failover: [{from: r1, to: r2}]}}"))
}

func (o *operations) sidecar() string {
	return o.head("networking.istio.io/v1", "Sidecar", "c1", "c2") + "}\n" +
		fmt.Sprintf("spec: {%s egress: [{hosts: [%s]}]}", o.of("", "workloadSelector: {labels: {app: web}},"), o.of("'./*'", "'*/*'", "'a/web.a.svc.cluster.local'", "'~/*'"))
}

func (o *operations) virtualService() string {
	return o.head("networking.istio.io/v1", "VirtualService", "v1", "v2") + "}\n" +
		fmt.Sprintf("spec: {hosts: [%s], gateways: [%s], http: [{route: [{destination: {host: %s, subset: v2}}]}]}",
			o.of("web", "ext.example.com"), o.of("mesh", "a/g1"), o.of("web", "api.b.svc.cluster.local"))
}

func (o *operations) gateway() string {
	return o.head("networking.istio.io/v1", "Gateway", "g1") + "}\n" +
		fmt.Sprintf("spec: {selector: {app: %s}, servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ['*']}]}", o.of("web", "api"))
}

func (o *operations) workloadGroup() string {
	return o.head("networking.istio.io/v1", "WorkloadGroup", "wg1") + "}\n" +
		fmt.Sprintf("spec: {metadata: {labels: {app: %s}}, template: {serviceAccount: vm, locality: r1/z1}}", o.of("web", "api"))
}

func (o *operations) security() string {
	if o.IntN(2) == 0 {
		return o.head("security.istio.io/v1", "PeerAuthentication", "default") + fmt.Sprintf("}\nspec: {mtls: {mode: %s}}", o.of("STRICT", "DISABLE", "PERMISSIVE"))
	}
	return o.head("security.istio.io/v1", "AuthorizationPolicy", "ap1") + "}\n" +
		fmt.Sprintf("spec: {action: CUSTOM, provider: {name: %s}, rules: [{}]}", o.of("authz", "other"))
}

func (o *operations) export() string {
	return o.head("multicluster.x-k8s.io/v1alpha1", o.of("ServiceExport", "ServiceImport"), "web", "api") +
		fmt.Sprintf("}\nspec: {type: ClusterSetIP, ips: [10.97.0.%d], ports: [{port: 80}]}", o.IntN(2)+1)
}
