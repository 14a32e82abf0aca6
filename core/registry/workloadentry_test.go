package registry_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
)

// selecting is a Service and a ServiceEntry that select the same workloads.
const selecting = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.1, selector: {app: web}, ports: [{name: http, port: 80}]}
---
$cluster: remote1
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.2, selector: {app: web}, ports: [{name: http, port: 80}]}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: web, namespace: shop}
spec:
  hosts: [web.example]
  ports: [{name: http, number: 80, protocol: HTTP}]
  resolution: STATIC
  workloadSelector: {labels: {app: web}}
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {name: vm, namespace: shop}
spec: {address: 192.0.2.1, labels: {app: web}}
---
$cluster: remote1
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {name: vm, namespace: shop}
spec: {address: 192.0.2.2, labels: {app: web}}
---
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: shop, labels: {app: web}}
spec: {containers: [{name: app}]}
status: {phase: Running, podIP: 10.0.0.1, podIPs: [{ip: 10.0.0.1}], conditions: [{type: Ready, status: 'True'}]}
`

// TestWhoSelectsWorkloads by the flags that turn selection off.
func TestWhoSelectsWorkloads(t *testing.T) {
	for name, c := range map[string]struct {
		features       registry.Features
		service, entry string
	}{
		"by default":             {registry.Features{}, "192.0.2.1 192.0.2.2", "10.0.0.1 192.0.2.1 192.0.2.2"},
		"no entries in services": {registry.Features{NoEntriesInServices: true}, "", "10.0.0.1 192.0.2.1"},
		"no Pods in entries":     {registry.Features{NoPodsInEntries: true}, "192.0.2.1 192.0.2.2", "192.0.2.1 192.0.2.2"},
	} {
		t.Run(name, func(t *testing.T) {
			core := coretest.NewWith(t, c.features)
			core.Apply(selecting)
			for host, want := range map[model.Hostname]string{"web.shop.svc.cluster.local": c.service, "web.example": c.entry} {
				got := map[string]bool{}
				for _, one := range core.Snapshot().Service(model.ServiceKey{Hostname: host, Namespace: "shop"}).Candidates() {
					got[one.Address] = true
				}
				if list := strings.Join(slices.Sorted(maps.Keys(got)), " "); list != want {
					t.Errorf("%s has %q, want %q", host, list, want)
				}
			}
		})
	}
}

// TestAllocationTurnedOff leaves a host without the address that its entry's status has.
func TestAllocationTurnedOff(t *testing.T) {
	const entry = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: db, namespace: shop}
spec: {hosts: [db.example, other.example], ports: [{name: tcp, number: 5432, protocol: TCP}], resolution: DNS}
status: {addresses: [{host: db.example, value: 240.240.0.9}]}
`
	for off, want := range map[bool]string{false: "240.240.0.9 240.240.0.1", true: " "} {
		core := coretest.NewWith(t, registry.Features{NoAllocation: off})
		core.Apply(entry)
		var got []string
		for _, host := range []model.Hostname{"db.example", "other.example"} {
			got = append(got, core.Snapshot().Service(model.ServiceKey{Hostname: host, Namespace: "shop"}).Definition().AutoAllocatedV4)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("turned off %t: addresses %q, want %q", off, got, want)
		}
	}
}
