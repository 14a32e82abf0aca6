package dataplane

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// backends are HTTP servers on addresses of this machine's loopback, all at one
// port; each answers with its address.
type backends struct{ port string }

func startBackends(t *testing.T, n int) *backends {
	t.Helper()
	b := &backends{port: port(t, freeAddress(t))}
	for i := 1; i <= n; i++ {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", backendIP(i)+":"+b.port)
		if err != nil {
			t.Fatal(err)
		}
		srv := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, backendIP(i)) // the client counts what it gets
		})}
		go func() { _ = srv.Serve(l) }() // until it is closed
		t.Cleanup(func() { _ = srv.Close() })
	}
	return b
}

func backendIP(i int) string { return fmt.Sprintf("127.0.1.%d", i) }

// endpoint is one endpoint of the slice of a test.
type endpoint struct {
	backend int
	state   string // "", "unready" or "draining"
}

// slice writes the EndpointSlice of the service "web" with these endpoints.
func (b *backends) slice(endpoints ...endpoint) string { return b.sliceOf("web", endpoints...) }

func (b *backends) sliceOf(service string, endpoints ...endpoint) string {
	var s strings.Builder
	fmt.Fprintf(&s, `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: %[1]s-1, namespace: shop, labels: {kubernetes.io/service-name: %[1]s}}
addressType: IPv4
ports: [{name: http, port: %[2]s, protocol: TCP}]
endpoints:
`, service, b.port)
	if len(endpoints) == 0 {
		s.WriteString("- {addresses: [127.0.1.99], conditions: {ready: false}}\n")
	}
	for _, e := range endpoints {
		conditions := "{ready: true, serving: true, terminating: false}"
		switch e.state {
		case "unready":
			conditions = "{ready: false, serving: false, terminating: false}"
		case "draining":
			conditions = "{ready: false, serving: true, terminating: true}"
		}
		fmt.Fprintf(&s, "- {addresses: [%s], conditions: %s, targetRef: {kind: Pod, name: web-%d, namespace: shop}}\n",
			backendIP(e.backend), conditions, e.backend)
	}
	return s.String()
}

// shop is the mesh of the tests: the service "web", whose Pods are in zone a if
// their number is odd and else in zone b, with version v1 up to 2 and then v2; and
// the client's Pod in zone a.
func shop(pods int) string {
	var s strings.Builder
	s.WriteString(`
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop, labels: {istio.io/persistent-session: cookie}}
spec: {clusterIP: 10.0.0.1, selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}
`)
	for _, zone := range []string{"a", "b"} {
		fmt.Fprintf(&s, `---
apiVersion: v1
kind: Node
metadata: {name: node-%s, labels: {topology.kubernetes.io/region: r1, topology.kubernetes.io/zone: %s}}
`, zone, zone)
	}
	pod := func(name, node, ip, labels string) {
		fmt.Fprintf(&s, `---
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: shop, labels: %s}
spec: {nodeName: %s, serviceAccountName: default, containers: [{name: app, image: app}]}
status: {phase: Running, podIP: %s, podIPs: [{ip: %s}], conditions: [{type: Ready, status: "True"}]}
`, name, labels, node, ip, ip)
	}
	pod("client-0", "node-a", "127.0.0.1", "{app: client}")
	for i := 1; i <= pods; i++ {
		node, version := "node-a", "v1"
		if i%2 == 0 {
			node = "node-b"
		}
		if i > 2 {
			version = "v2"
		}
		pod(fmt.Sprintf("web-%d", i), node, backendIP(i), "{app: web, version: "+version+"}")
	}
	return s.String()
}

func ready(backends ...int) []endpoint {
	var out []endpoint
	for _, b := range backends {
		out = append(out, endpoint{backend: b})
	}
	return out
}
