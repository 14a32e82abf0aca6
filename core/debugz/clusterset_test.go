package debugz_test

import (
	"encoding/json"
	"testing"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/debugz"
	"github.com/edsight/edsight/core/registry"
)

// set has a Service that both clusters have and export, of which one imports it,
// an export without a Service and an import without addresses.
const set = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.9, ports: [{name: http, port: 80}]}
---
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceExport
metadata: {name: web, namespace: shop}
---
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceImport
metadata: {name: web, namespace: shop}
spec: {ips: [10.99.0.2, 10.99.0.1, nonsense]}
---
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceImport
metadata: {name: other, namespace: shop}
spec: {ips: []}
---
$cluster: a-remote
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.97.0.9, ports: [{name: http, port: 80}]}
---
$cluster: a-remote
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceExport
metadata: {name: web, namespace: shop}
---
$cluster: a-remote
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceExport
metadata: {name: gone, namespace: app}
`

// TestClusterSet holds mcsz with each feature alone and together.
func TestClusterSet(t *testing.T) {
	const (
		none     = `"Discoverability":null}`
		imported = `"Imported":true,"ClusterSetVIP":"10.99.0.1",`
		other    = `{"Cluster":"Kubernetes","Name":"other","Namespace":"shop","Exported":false,"Imported":true,"ClusterSetVIP":"",` + none
		gone     = `{"Cluster":"a-remote","Name":"gone","Namespace":"app","Exported":true,"Imported":false,"ClusterSetVIP":"","Discoverability":{}}`
		local    = `"web.shop.svc.cluster.local":"DiscoverableFromSameCluster"`
		always   = `"web.shop.svc.cluster.local":"AlwaysDiscoverable"`
		whole    = `"web.shop.svc.clusterset.local":"AlwaysDiscoverable"`
	)
	web := func(cluster, how, discoverable string) string {
		return `{"Cluster":"` + cluster + `","Name":"web","Namespace":"shop","Exported":true,` + how + `"Discoverability":{` + discoverable + `}}`
	}
	const only = `"Imported":false,"ClusterSetVIP":"",`
	for name, c := range map[string]struct {
		features registry.Features
		want     string
	}{
		"off":     {registry.Features{ClusterLocalHosts: true}, `null`},
		"exports": {registry.Features{ServiceExports: true}, `[` + web("Kubernetes", only, always) + `,` + gone + `,` + web("a-remote", only, always) + `]`},
		"imports": {registry.Features{ServiceImports: true}, `[` + other + `,{"Cluster":"Kubernetes","Name":"web","Namespace":"shop","Exported":false,` + imported + none + `]`},
		"all": {
			registry.Features{ServiceExports: true, ServiceImports: true, ClusterLocalHosts: true},
			`[` + other + `,` + web("Kubernetes", imported, local+`,`+whole) + `,` + gone + `,` + web("a-remote", only, local) + `]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			core := coretest.NewWith(t, c.features)
			core.Apply(set)
			got, err := json.Marshal(debugz.ClusterSet(core.Snapshot()))
			if err != nil || string(got) != c.want {
				t.Errorf("%v\n got %s\nwant %s", err, got, c.want)
			}
		})
	}
}

// TestNetworkGateways leaves out the gateways that have a name only.
func TestNetworkGateways(t *testing.T) {
	core := coretest.New(t)
	core.Apply(`
apiVersion: v1
kind: ConfigMap
metadata: {name: istio, namespace: istio-system}
data: {meshNetworks: '{networks: {a: {gateways: [{address: gw.example.org, port: 15443}, {address: 203.0.113.1, port: 15443}]}}}'}
`)
	got, err := json.Marshal(debugz.Gateways(core.Snapshot()))
	want := `[{"Network":"a","Cluster":"","Addr":"203.0.113.1","Port":15443,"HBONEPort":0,"ServiceAccount":{"Namespace":"","Name":""}}]`
	if err != nil || string(got) != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}
