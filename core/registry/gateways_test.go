package registry_test

import (
	"slices"
	"testing"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/state"
)

// TestGatewaysOfNamedServices are at the external addresses of those Services whose
// cluster is in the network. Only a label on the Service makes one that takes HBONE.
func TestGatewaysOfNamedServices(t *testing.T) {
	service := func(cluster, name, labels, address string) string {
		return `
---
$cluster: ` + cluster + `
apiVersion: v1
kind: Service
metadata: {name: ` + name + `, namespace: istio-system, labels: {` + labels + `}}
spec: {type: LoadBalancer, clusterIP: 10.96.0.1, ports: [{name: tls, port: 15443}]}
status: {loadBalancer: {ingress: [{ip: ` + address + `}]}}
`
	}
	c := coretest.New(t)
	c.Apply(`
apiVersion: v1
kind: ConfigMap
metadata: {name: istio, namespace: istio-system}
data:
  meshNetworks: |
    networks:
      net1:
        endpoints: [{fromRegistry: remote1}]
        gateways:
        - {registryServiceName: gw.istio-system.svc.cluster.local, port: 15443}
        - {registryServiceName: gw.istio-system, port: 15443}
        - {registryServiceName: svc.cluster.local, port: 15443}
` + service("remote1", "gw", "", "203.0.113.1") + service("remote2", "gw", "", "203.0.113.2") +
		service("remote1", "labelled", "topology.istio.io/network: net2", "203.0.113.3"))
	want := []state.Gateway{
		{Network: "net1", Cluster: "remote1", Addr: "203.0.113.1", Port: 15443},
		{Network: "net2", Cluster: "remote1", Addr: "203.0.113.3", Port: 15443, HBONEPort: 15008},
	}
	if got := c.Snapshot().Gateways(); !slices.Equal(got, want) {
		t.Errorf("gateways %+v, want %+v", got, want)
	}
}
