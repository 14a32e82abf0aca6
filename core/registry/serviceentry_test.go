package registry_test

import (
	"testing"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
)

// TestEntryWorkloadsAreShared: what stands behind an endpoint of a ServiceEntry is
// there once for all addresses and ports of a host.
func TestEntryWorkloadsAreShared(t *testing.T) {
	c := coretest.New(t)
	c.Apply(`
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: db, namespace: shop}
spec:
  hosts: [db.example]
  addresses: [240.0.0.1, 240.0.0.2, 240.0.0.3]
  ports:
  - {name: tcp, number: 5432, protocol: TCP}
  - {name: http, number: 80, protocol: HTTP}
  resolution: STATIC
  endpoints:
  - {address: 10.0.0.1, labels: {app: db}}
  - {address: 10.0.0.2, labels: {app: db}}
`)
	behind := map[string]*model.Workload{}
	n := 0
	for _, one := range c.Snapshot().Service(model.ServiceKey{Hostname: "db.example", Namespace: "shop"}).Candidates() {
		w := one.Endpoint.Workload
		if have := behind[one.Address]; have != nil && have != w {
			t.Errorf("%s has two workloads", one.Address)
		}
		behind[one.Address] = w
		n++
	}
	if n != 3*2*2 || len(behind) != 2 || behind["10.0.0.1"] == behind["10.0.0.2"] {
		t.Errorf("%d candidates with the workloads %v", n, behind)
	}
}
