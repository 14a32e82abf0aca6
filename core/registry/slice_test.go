package registry_test

import (
	"testing"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
)

// TestNetworkOfAddresses: where nothing else says in which network a Pod is, each of
// its addresses is in that whose range has it.
func TestNetworkOfAddresses(t *testing.T) {
	c := coretest.New(t)
	c.Apply(`
apiVersion: v1
kind: ConfigMap
metadata: {name: istio, namespace: istio-system}
data:
  meshNetworks: |
    networks:
      net2: {endpoints: [{fromCidr: 'fd00::/64'}, {fromCidr: 192.0.2.0/24}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.1, ports: [{name: http, port: 80}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: shop, labels: {app: web}}
spec: {containers: [{name: app}]}
status: {phase: Running, podIP: 10.0.0.1, podIPs: [{ip: 10.0.0.1}, {ip: 'fd00::1'}]}
---
apiVersion: v1
kind: Pod
metadata: {name: labelled, namespace: shop, labels: {topology.istio.io/network: net3}}
spec: {containers: [{name: app}]}
status: {phase: Running, podIP: 10.0.0.2, podIPs: [{ip: 10.0.0.2}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-v6, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv6
ports: [{name: http, port: 8080}]
endpoints:
- {addresses: ['fd00::1'], targetRef: {kind: Pod, namespace: shop, name: web-0}}
- {addresses: ['fd01::1'], targetRef: {kind: Pod, namespace: shop, name: web-0}}
- {addresses: ['fd00::2'], targetRef: {kind: Pod, namespace: shop, name: labelled}}
- {addresses: ['fd00::3']}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-v4, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints:
- {addresses: [10.0.0.1], targetRef: {kind: Pod, namespace: shop, name: web-0}}
- {addresses: [192.0.2.1], targetRef: {kind: Pod, namespace: shop, name: web-0}}
`)
	want := map[string]model.NetworkID{
		"10.0.0.1": "", "192.0.2.1": "net2", "fd00::1": "net2", "fd01::1": "", "fd00::2": "net3", "fd00::3": "net2",
	}
	for _, one := range c.Snapshot().Service(model.ServiceKey{Hostname: "web.shop.svc.cluster.local", Namespace: "shop"}).Candidates() {
		w := one.Endpoint.Workload
		if w.Network != want[one.Address] || w.Labels[model.LabelNetwork] != string(w.Network) {
			t.Errorf("%s is in network %q with the label %q, want %q", one.Address, w.Network, w.Labels[model.LabelNetwork], want[one.Address])
		}
		delete(want, one.Address)
	}
	if len(want) > 0 {
		t.Errorf("nothing has %v", want)
	}
}
