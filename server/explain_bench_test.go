package server

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// BenchmarkMatrix renders the page of a service of 1,000 endpoints, in a mesh of
// 2,000 services with 25 endpoints each, as 300 proxies get it.
func BenchmarkMatrix(b *testing.B) {
	core := newLargeCore(2000, 25)
	build := state.NewBuilder(core.snap)
	key := model.ServiceKey{Hostname: "large.ns1.svc.cluster.local", Namespace: "ns1"}
	build.SetService(key, largeService(key, 1, 1000))
	local := model.ServiceKey{Hostname: "local.ns1.svc.cluster.local", Namespace: "ns1"}
	nodes := largeService(local, 2, 1000)
	nodes.Definitions[0].NodeLocal = true // so that each proxy has a view of its own
	build.SetService(local, nodes)
	for i := range 300 {
		id := fmt.Sprintf("client-%d.ns%d", i, i%50)
		build.SetProxy(id, &model.Proxy{
			ID: id, Type: model.Sidecar, Namespace: fmt.Sprintf("ns%d", i%50), Cluster: "Kubernetes", Node: fmt.Sprintf("node-%d", i),
			IPs: []string{fmt.Sprintf("10.9.%d.%d", i/250, i%250)}, Locality: model.Locality{Region: "eu", Zone: fmt.Sprintf("eu-%d", i%3)},
		})
	}
	build.TouchConfig()
	core.snap = build.Snapshot(time.Now())
	s := New(core, Options{Token: testToken})
	for name, path := range map[string]string{
		"matrix": views.ServiceURL(key), "matrix-of-nodes": views.ServiceURL(local), "matrix-of-all": views.ServiceURL(local) + "?views=all", "explain": views.ExplainURL("client-7.ns7", string(key.Hostname), 80, "", "10.0.0.1"), "trace": views.TraceURL("10.0.0.1"), "search": "/search?q=s1",
	} {
		b.Run(name, func(b *testing.B) {
			r := getRequest(b, path)
			for b.Loop() {
				if w := serve(s, r); w.Code != http.StatusOK {
					b.Fatalf("%d %s", w.Code, w.Body)
				}
			}
		})
	}
}

func getRequest(tb testing.TB, path string) *http.Request {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, path, http.NoBody)
	if err != nil {
		tb.Fatal(err)
	}
	r.Host = "localhost:8080"
	r.RemoteAddr = "127.0.0.1:1"
	r.Header.Set("Accept", "text/html")
	bearer(r)
	return r
}
