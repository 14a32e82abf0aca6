package compare_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/compare"
	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/scope"
)

// client is the proxy whose view is compared.
const (
	client = "client-0.shop"
	web    = "outbound|80||web.shop.svc.cluster.local"
)

// shop has a client in one zone, and a service with Pods in two.
const shop = `
apiVersion: v1
kind: Node
metadata: {name: node-1, labels: {topology.kubernetes.io/region: r1, topology.kubernetes.io/zone: a}}
---
apiVersion: v1
kind: Node
metadata: {name: node-2, labels: {topology.kubernetes.io/region: r1, topology.kubernetes.io/zone: b}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.1, selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: web, namespace: shop}
spec:
  host: web
  trafficPolicy: {outlierDetection: {consecutive5xxErrors: 5}}
  subsets: [{name: v2, labels: {version: v2}}]
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: mail, namespace: shop}
spec: {hosts: [mail.example.com], resolution: DNS, ports: [{name: tcp, number: 25, protocol: TCP}]}
---
`

func pod(name, app string, i int) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: %[1]s-%[3]d, namespace: shop, labels: {app: %[2]s, version: v%[4]d, security.istio.io/tlsMode: istio}}
spec: {nodeName: node-%[4]d, containers: [{name: app}, {name: istio-proxy, args: [proxy, sidecar]}]}
status: {phase: Running, podIP: 10.0.%[5]d.%[3]d, conditions: [{type: Ready, status: "True"}]}
---
`, name, app, i, i%2+1, len(app))
}

// slice lists the Pods of the web with these numbers.
func slice(pods ...int) string {
	var b strings.Builder
	b.WriteString("apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}\naddressType: IPv4\nports: [{name: http, port: 8080}]\nendpoints:\n")
	for _, i := range pods {
		fmt.Fprintf(&b, "- {addresses: [10.0.3.%d], conditions: {ready: true}, targetRef: {kind: Pod, name: web-%d, namespace: shop}}\n", i, i)
	}
	return b.String() + "---\n"
}

func newShop(tb testing.TB) *coretest.Core {
	tb.Helper()
	c := coretest.New(tb)
	text := shop + pod("client", "client", 0)
	for i := range 4 {
		text += pod("web", "web", i)
	}
	c.Apply(text + slice(0, 1, 2))
	return c
}

func sideOf(c *coretest.Core) compare.Side {
	return compare.Side{Snap: c.Snapshot(), Scopes: &scope.Cache{}}
}

func setOf(tb testing.TB, c *coretest.Core, id string) compare.Set {
	tb.Helper()
	s := sideOf(c)
	p := s.Snap.Proxy(id)
	if p == nil {
		tb.Fatalf("there is no proxy %s", id)
	}
	return s.Set(p)
}

// text says a difference in lines: "cluster: address here -> there [fields]".
func text(d *compare.Difference) string {
	var b strings.Builder
	for _, c := range d.Clusters {
		if !c.Here || !c.There {
			fmt.Fprintf(&b, "%s here=%t there=%t\n", c.Name, c.Here, c.There)
		}
		for _, p := range c.Endpoints {
			fmt.Fprintf(&b, "%s: %s %s -> %s %v\n", c.Name, p.Address, endpointText(p.Here), endpointText(p.There), p.Fields)
		}
	}
	return b.String()
}

func endpointText(e *compare.Endpoint) string {
	if e == nil {
		return "-"
	}
	return fmt.Sprintf("%s p%d %s w%d", e.Health, e.Priority, e.Locality, e.Weight)
}
