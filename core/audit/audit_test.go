package audit_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/edsight/edsight/core/audit"
	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
)

// shop has one service with one endpoint, and a proxy.
const shop = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.9, selector: {app: web}, ports: [{name: http, port: 80}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, labels: {app: web, version: v1}}
spec: {containers: [{name: app}, {name: istio-proxy}]}
status: {phase: Running, podIP: 10.1.0.1, podIPs: [{ip: 10.1.0.1}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-abc12, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080, protocol: TCP}]
endpoints: [{addresses: [10.1.0.1], conditions: {ready: true}, targetRef: {kind: Pod, name: web-1, namespace: shop}}]
---
apiVersion: v1
kind: Service
metadata: {name: idle, namespace: shop}
spec: {clusterIP: 10.96.0.8, ports: [{name: http, port: 80}]}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: wild, namespace: shop}
spec: {hosts: ["*.example.com"], resolution: NONE, ports: [{name: http, number: 80, protocol: HTTP}]}
`

// object is a manifest of Istio in namespace shop.
func object(kind, spec string) string {
	return "apiVersion: networking.istio.io/v1\nkind: " + kind + "\nmetadata: {name: x, namespace: shop}\nspec: " + spec + "\n"
}

func mesh(config string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: istio, namespace: istio-system}\ndata:\n  mesh: |\n    " + config + "\n"
}

// TestConfig gives each problem beside what is like it and in order. A want of ""
// is no problem; else it is the field, and what the message must say.
func TestConfig(t *testing.T) {
	grpc := func(service, port string) string {
		return mesh(`extensionProviders: [{name: t, zipkin: {service: nobody, port: 1}}, {name: authz, envoyExtAuthzGrpc: {service: ` + service + `, port: ` + port + `}}]`)
	}
	for name, c := range map[string]struct{ manifest, field, message string }{
		"sidecar selects a proxy":      {object("Sidecar", `{workloadSelector: {labels: {app: web}}}`), "", ""},
		"sidecar for the namespace":    {object("Sidecar", `{egress: [{hosts: ["./*"]}]}`), "", ""},
		"sidecar selects nothing":      {object("Sidecar", `{workloadSelector: {labels: {app: web, version: v9}}}`), "spec.workloadSelector.labels", "app=web,version=v9"},
		"entry without addresses":      {object("ServiceEntry", `{hosts: [a.example.org], resolution: NONE, ports: [{name: http, number: 80}]}`), "", ""},
		"entry with addresses":         {object("ServiceEntry", `{hosts: [a.example.org], resolution: STATIC, endpoints: [{address: 1.2.3.4}]}`), "", ""},
		"entry ignores its endpoints":  {object("ServiceEntry", `{hosts: [a.example.org], resolution: NONE, endpoints: [{address: 1.2.3.4}]}`), "spec.endpoints", "NONE"},
		"entry ignores its selector":   {object("ServiceEntry", `{hosts: [a.example.org], resolution: NONE, workloadSelector: {labels: {app: web}}}`), "spec.workloadSelector", "NONE"},
		"rule for a short name":        {object("DestinationRule", `{host: web}`), "", ""},
		"rule for a wildcard":          {object("DestinationRule", `{host: "*.shop.svc.cluster.local"}`), "", ""},
		"rule within a wildcard":       {object("DestinationRule", `{host: api.example.com}`), "", ""},
		"rule without a service":       {object("DestinationRule", `{host: wed}`), "spec.host", "wed.shop.svc.cluster.local"},
		"subset with an endpoint":      {object("DestinationRule", `{host: web, subsets: [{name: one, labels: {version: v1}}]}`), "", ""},
		"subset of an idle service":    {object("DestinationRule", `{host: idle, subsets: [{name: one, labels: {version: v1}}]}`), "", ""},
		"subset without an endpoint":   {object("DestinationRule", `{host: web, subsets: [{name: one, labels: {version: v1}}, {name: two, labels: {version: v2}}]}`), "spec.subsets[1].labels", "none of the 1 of web.shop.svc.cluster.local has version=v2"},
		"route to a service":           {object("VirtualService", `{hosts: [web], http: [{route: [{destination: {host: web}}]}], tcp: [{route: [{destination: {host: idle}}]}]}`), "", ""},
		"route to nothing":             {object("VirtualService", `{hosts: [web], http: [{redirect: {uri: /}}, {route: [{destination: {host: web}}, {destination: {host: web.default}}]}]}`), "spec.http[1].route[1].destination.host", "web.default"},
		"mirror to nothing":            {object("VirtualService", `{hosts: [web], http: [{route: [{destination: {host: web}}], mirrors: [{destination: {host: wed}}]}]}`), "spec.http[0].mirrors[0].destination.host", "wed.shop"},
		"TLS route to nothing":         {object("VirtualService", `{hosts: [web], tls: [{match: [{sniHosts: [web]}], route: [{destination: {host: wed}}]}]}`), "spec.tls[0].route[0].destination.host", "wed.shop"},
		"provider with a service":      {grpc("shop/web.shop.svc.cluster.local", "80"), "", ""},
		"provider without a service":   {grpc("authz.shop.svc.cluster.local", "80"), "data.mesh.extensionProviders[1].envoyExtAuthzGrpc.service", "no service is authz.shop"},
		"provider of another place":    {grpc("ops/web.shop.svc.cluster.local", "80"), "data.mesh.extensionProviders[1].envoyExtAuthzGrpc.service", "no service is ops/web"},
		"provider without a port":      {grpc("web.shop.svc.cluster.local", "9000"), "data.mesh.extensionProviders[1].envoyExtAuthzGrpc.port", "has no port 9000"},
		"HTTP provider without a port": {mesh(`extensionProviders: [{name: authz, envoyExtAuthzHttp: {service: web.shop.svc.cluster.local, port: 1}}]`), "data.mesh.extensionProviders[0].envoyExtAuthzHttp.port", "has no port 1"},
	} {
		t.Run(name, func(t *testing.T) {
			core := coretest.New(t)
			core.Apply(shop)
			core.Apply(c.manifest)
			expect(t, audit.Config(core.Snapshot()), c.field, c.message)
		})
	}
}

func expect(t *testing.T, got []audit.Problem, field, message string) {
	t.Helper()
	if field == "" {
		if len(got) > 0 {
			t.Errorf("a problem where there is none: %+v", got)
		}
		return
	}
	if len(got) != 1 {
		t.Fatalf("%d problems, not 1: %+v", len(got), got)
	}
	p := got[0]
	if p.Field != field || !strings.Contains(p.Message, message) || p.Remedy == "" || p.Object.Name == "" {
		t.Errorf("the problem is %+v, not with %s and %q", p, field, message)
	}
}

// TestOrder gives problems of several objects by object and field.
func TestOrder(t *testing.T) {
	core := coretest.New(t)
	core.Apply(shop)
	core.Apply(object("Sidecar", `{workloadSelector: {labels: {app: none}}}`) + "---\n" + object("DestinationRule", `{host: none}`) + "---\n" +
		object("VirtualService", `{hosts: [web], http: [{route: [{destination: {host: none}}, {destination: {host: none}}]}]}`))
	var got []string
	for _, p := range audit.Config(core.Snapshot()) {
		got = append(got, string(p.Object.Kind)+" "+p.Field)
	}
	want := "DestinationRule spec.host, Sidecar spec.workloadSelector.labels, VirtualService spec.http[0].route[0].destination.host, VirtualService spec.http[0].route[1].destination.host"
	if strings.Join(got, ", ") != want {
		t.Errorf("the order is %s", strings.Join(got, ", "))
	}
}

// TestMesh names the part of the ConfigMap that cannot be read.
func TestMesh(t *testing.T) {
	key := model.ObjectKey{Kind: model.KindConfigMap, Namespace: "istio-system", Name: "istio"}
	good := &corev1.ConfigMap{Data: map[string]string{"mesh": "trustDomain: a\nunknown: 1", "meshNetworks": "networks: {}"}}
	expect(t, audit.Mesh(key, good), "", "")
	bad := &corev1.ConfigMap{Data: map[string]string{"mesh": "trustDomain: a", "meshNetworks": "networks: [one]"}}
	expect(t, audit.Mesh(key, bad), "data.meshNetworks", "cannot be read")
}
