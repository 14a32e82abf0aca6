package debugz_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/debugz"
)

const troubled = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.1.0.1, selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}, {name: tcp, port: 81, targetPort: 8081}]}
---
apiVersion: v1
kind: Service
metadata: {name: again, namespace: shop}
spec: {clusterIP: 10.1.0.2, selector: {app: web}, ports: [{name: tcp, port: 80, targetPort: 8080}, {name: tcp-2, port: 81, targetPort: 8081}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: shop, labels: {app: web}}
spec: {containers: [{name: istio-proxy, image: proxy}]}
status: {phase: Running, podIP: 10.2.0.1, podIPs: [{ip: 10.2.0.1}], conditions: [{type: Ready, status: "True"}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080}, {name: tcp, port: 8081}]
endpoints:
- {addresses: [10.2.0.1], targetRef: {kind: Pod, name: web-0, namespace: shop}}
- {addresses: [10.2.0.9], targetRef: {kind: Pod, name: web-9, namespace: shop}}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: api, namespace: shop}
spec: {hosts: [api.example.com], resolution: STATIC, ports: [{number: 443, name: tls, protocol: TLS}], endpoints: [{address: 10.3.0.1}]}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: api, namespace: bank}
spec: {hosts: [api.example.com], resolution: DNS, ports: [{number: 443, name: tls, protocol: TLS}, {number: 80, name: http, protocol: HTTP}], workloadSelector: {labels: {app: none}}}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: a, namespace: shop}
spec: {host: web, subsets: [{name: v1, labels: {version: v1}}]}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: b, namespace: shop}
spec: {host: web.shop.svc.cluster.local, subsets: [{name: v1, labels: {version: v2}}, {name: v2, labels: {version: v2}}]}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: a, namespace: shop}
spec: {hosts: [web, private], http: [{route: [{destination: {host: web}}]}]}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: b, namespace: bank}
spec: {hosts: [web.shop.svc.cluster.local], http: [{route: [{destination: {host: web.shop.svc.cluster.local}}]}]}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: c, namespace: shop}
spec: {hosts: [private], exportTo: ["."], http: [{route: [{destination: {host: web}}]}]}
`

func TestPushStatus(t *testing.T) {
	c := coretest.New(t)
	c.Apply(troubled)
	const web, api = "web.shop.svc.cluster.local", "api.example.com"
	empty := debugz.PushEvent{Message: "no endpoints"}
	want := debugz.PushStatus{
		"pilot_no_ip":            {"10.2.0.9": {Message: "the slice's targetRef names a Pod that is not there (yet, or any more)"}},
		"endpoint_no_pod":        {web: {Message: "10.2.0.9"}},
		"pilot_eds_no_instances": {"outbound|80||again.shop.svc.cluster.local": empty, "outbound|81||again.shop.svc.cluster.local": empty},
		"pilot_dns_cluster_without_endpoints": {
			"outbound|443||" + api: empty, "outbound|80||" + api: empty,
		},
		"pilot_duplicate_envoy_clusters": {"outbound|443||" + api: {Message: "defined in the namespaces bank and shop; a proxy uses one of the two"}},
		"pilot_destrule_subsets":         {web: {Message: "subset v1 is defined more than once in namespace shop; the oldest counts"}},
		"pilot_vservice_dup_domain":      {web: {Message: "VirtualServices bank/b and shop/a are for this host; the older one counts"}},
		"pilot_conflict_inbound_listener": {"web-0.shop": {
			Proxy: "web-0.shop", Message: "port 8080 is TCP for again.shop.svc.cluster.local and HTTP for " + web,
		}},
	}
	if d := cmp.Diff(want, debugz.Status(c.Snapshot())); d != "" {
		t.Error(d)
	}
	for name := range want {
		if debugz.PushMetrics()[name] == "" {
			t.Errorf("%s has no help", name)
		}
	}
}

func TestUnpushedChanges(t *testing.T) {
	const node = "apiVersion: v1\nkind: Node\nmetadata: {name: n, labels: {a: b}}\n"
	const service = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {clusterIP: 10.1.0.1, ports: [{name: http, port: 80}]}\n"
	c := coretest.New(t)
	c.Apply(service)
	c.Apply(node)
	c.Apply("$op: delete\n" + service)
	j := debugz.PushStatus{}
	j.Unpushed(c.Journal().Since(1, 100).Transitions)
	for key, e := range j["nothing_pushed"] {
		if key != "Node/n" || e.Message == "" {
			t.Errorf("%s: %q", key, e.Message)
		}
	}
	if len(j["nothing_pushed"]) != 1 {
		t.Errorf("have %v, want the node alone", j)
	}
	c.Apply(strings.Replace(node, "a: b", "topology.kubernetes.io/zone: z", 1) + "---\n" + service)
	j = debugz.PushStatus{}
	j.Unpushed(c.Journal().Since(1, 100).Transitions)
	if len(j) != 0 {
		t.Errorf("have %v, though its last change was part of a push", j)
	}
}
