package facts

import (
	"testing"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
)

func export(kind, spec string) string {
	return "apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: " + kind + "\nmetadata: {name: web, namespace: shop}\n" + spec
}

// clusterset is a mesh of two clusters with an endpoint each.
func clusterset(t *testing.T, features registry.Features) mesh {
	t.Helper()
	m := mesh{coretest.NewWith(t, features), t}
	m.Apply(docs(proxyPod("ns", "client", "10.9.0.1", ""), service("web", "", ""), slice("a", at("10.0.0.1", "")),
		"$cluster: remote1\n"+service("web", "", ""), "$cluster: remote1\n"+slice("a", at("10.1.0.1", ""))))
	return m
}

func TestServiceExports(t *testing.T) {
	m := clusterset(t, registry.Features{ServiceExports: true})
	m.wantSent(webEDS, "10.0.0.1:8080/0")
	equal(t, "reason of the other cluster's", m.assignment(client, webEDS).Reasons[1], model.ReasonNotDiscoverable)
	m.Apply("$cluster: remote1\n" + export("ServiceExport", ""))
	m.wantSent(webEDS, "10.0.0.1:8080/0", "10.1.0.1:8080/0")
	m = clusterset(t, registry.Features{ServiceExports: true, ClusterLocalHosts: true})
	m.Apply("$cluster: remote1\n" + export("ServiceExport", ""))
	m.wantSent(webEDS, "10.0.0.1:8080/0")
}

func TestServiceImports(t *testing.T) {
	const host = "web.shop.svc.clusterset.local"
	m := clusterset(t, registry.Features{ServiceExports: true, ServiceImports: true, ClusterLocalHosts: true})
	equal(t, "cluster without an import", m.has(client, "outbound|80||"+host), false)
	m.Apply(docs(export("ServiceImport", "spec: {ips: [10.99.0.1]}"), "$cluster: remote1\n"+export("ServiceImport", "spec: {ips: [10.99.0.2]}"), "$cluster: remote1\n"+export("ServiceExport", "")))
	equal(t, "address", m.definition(host).DefaultAddress, "10.99.0.1")
	m.wantSent("outbound|80||"+host, "10.0.0.1:8080/0", "10.1.0.1:8080/0")
	m.wantSent(webEDS, "10.0.0.1:8080/0")
}
