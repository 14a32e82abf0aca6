package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/views"
)

// shop is a mesh with a service whose endpoints differ in why they are, or are
// not, what a client gets.
const shop = `
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {topology.kubernetes.io/region: eu, topology.kubernetes.io/zone: eu-a}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop, resourceVersion: "5", labels: {team: front}}
spec: {clusterIP: 10.96.0.9, selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {clusterIP: 10.96.0.10, selector: {app: cart}, ports: [{name: http, port: 80}]}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: web, namespace: shop, resourceVersion: "7"}
spec: {host: web.shop.svc.cluster.local, subsets: [{name: v2, labels: {version: v2}}]}
---
` + podShop + `
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-abc12, namespace: shop, resourceVersion: "8", labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080, protocol: TCP}]
endpoints:
- {addresses: [10.1.0.1], conditions: {ready: true}, targetRef: {kind: Pod, name: web-1, namespace: shop}}
- {addresses: [10.1.0.2], conditions: {ready: false, serving: false, terminating: false}}
- {addresses: [10.1.0.3], conditions: {ready: true}, targetRef: {kind: Pod, name: web-3, namespace: shop}}
---
` + sliceOfCart

const sliceOfCart = `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: cart-abc12, namespace: shop, labels: {kubernetes.io/service-name: cart}}
addressType: IPv4
ports: [{name: web, port: 8080, protocol: TCP}]
endpoints: [{addresses: [10.1.0.7], conditions: {ready: true}}]
`

const podShop = `
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, labels: {app: web, version: v1, security.istio.io/tlsMode: istio}}
spec: {nodeName: n1, serviceAccountName: web, containers: [{name: app}, {name: istio-proxy}]}
status: {phase: Running, podIP: 10.1.0.1, podIPs: [{ip: 10.1.0.1}], conditions: [{type: Ready, status: "True"}]}
`

// terminatingWeb1 is the slice of web without its second and third address, the
// first terminating.
const terminatingWeb1 = `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-abc12, namespace: shop, resourceVersion: "9", labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080, protocol: TCP}]
endpoints:
- {addresses: [10.1.0.1], conditions: {ready: false, serving: true, terminating: true}, targetRef: {kind: Pod, name: web-1, namespace: shop}}
`

// visitor reads the pages of a server over a core.
type visitor struct {
	*testServer
	t    *testing.T
	core *coretest.Core
}

func newVisitor(t *testing.T) *visitor {
	t.Helper()
	core := coretest.New(t)
	core.Apply(shop)
	return &visitor{newTestServer(t, core, Options{Token: testToken}), t, core}
}

// html reads a page as a browser does.
func (v *visitor) html(path string) string {
	v.t.Helper()
	a := v.get(path, "text/html")
	if a.StatusCode != http.StatusOK {
		v.t.Fatalf("%s: %d %s", path, a.StatusCode, a.body)
	}
	return a.body
}

func (v *visitor) get(path, accept string) answer {
	v.t.Helper()
	return do(v.t, client(), http.MethodGet, v.url+path, func(r *http.Request) {
		bearer(r)
		r.Header.Set("Accept", accept)
	})
}

// part is the text of the first element with that data-testid, and what follows
// it up to the next of the same kind or the end of its table.
func (v *visitor) part(page, testid string) string {
	v.t.Helper()
	_, rest, ok := strings.Cut(page, `data-testid="`+testid+`"`)
	if !ok {
		v.t.Fatalf("the page has no %s", testid)
	}
	rest, _, _ = strings.Cut(rest, "</table>")
	rest, _, _ = strings.Cut(rest, `data-testid="`+testid+`"`)
	return rest
}

func webKey() model.ServiceKey {
	return model.ServiceKey{Hostname: "web.shop.svc.cluster.local", Namespace: "shop"}
}

func pagePaths() map[string]string {
	return map[string]string{
		"/":                                "feed",
		"/transitions/2":                   "decision",
		"/services":                        "services",
		views.ServiceURL(webKey()):         "matrix",
		"/proxies":                         "proxies",
		views.ProxyURL("web-1.shop"):       "clusters",
		"/pushes":                          "push-counts",
		"/config":                          "objects",
		"/slices":                          "findings",
		"/clusters":                        "networks-table",
		"/config/DestinationRule/shop/web": "object-yaml",
		"/snapshots":                       "export",
		"/explain":                         "explain-form",
		"/search":                          "empty",
		"/waiting":                         "waiting",
	}
}
