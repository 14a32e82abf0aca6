package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// newLargeMesh has 2,000 services of 25 endpoints, each endpoint with a proxy of
// its own, and a journal full of incremental pushes.
func newLargeMesh() *fakeCore {
	core := newLargeCore(2000, 25)
	b := state.NewBuilder(core.snap)
	for svc := range core.snap.Services() {
		for _, c := range svc.Candidates() {
			id := c.Address + "." + svc.Key.Namespace
			b.SetProxy(id, &model.Proxy{ID: id, Type: model.Sidecar, Namespace: svc.Key.Namespace, IPs: []string{c.Address}, Cluster: "Kubernetes"})
		}
	}
	core.snap = b.Snapshot(time.Now())
	core.journal = journal.New(2000)
	now := time.Now()
	for i := range 2000 {
		svc := core.snap.Service(model.ServiceKey{
			Hostname: model.Hostname(fmt.Sprintf("s%d.ns%d.svc.cluster.local", i, i%50)), Namespace: fmt.Sprintf("ns%d", i%50),
		})
		x := svc.Shards[0].Candidates[0]
		core.journal.Append(&journal.Transition{
			Version: core.snap.Version, Prev: core.snap, Next: core.snap,
			Diff:  &state.Diff{Services: []state.ServiceChange{{Key: svc.Key, Prev: svc, Next: svc, Endpoints: []state.EndpointChange{{Before: x, After: x}}}}},
			Push:  journal.Push{Scope: state.IncrementalScope(svc.Key), Because: "endpoints changed"},
			Times: journal.Times{Seen: now, Drained: now, Compiled: now, Published: now},
		})
	}
	return core
}

// BenchmarkPages renders each page at 50,000 endpoints and as many proxies.
func BenchmarkPages(b *testing.B) {
	core := newLargeMesh()
	h := New(core, Options{Token: testToken}).Handler()
	key := model.ServiceKey{Hostname: "s7.ns7.svc.cluster.local", Namespace: "ns7"}
	for name, path := range map[string]string{
		"live": "/", "wrong": "/wrong", "live-proxy": "/?proxy=10.0.7.0.ns7", "live-address": "/?address=10.0.7.0", "search-ip": "/search.json?q=10.0.7.0", "search-name": "/search.json?q=s77", "transition": "/transitions/1500",
		"services": "/services", "services-ip": "/services?q=10.0.7.3", "services-last": "/services?page=20", "services-trouble": "/services?only=trouble",
		"service": views.ServiceURL(key), "proxies": "/proxies", "proxies-last": "/proxies?page=500",
		"proxy": views.ProxyURL("10.0.7.0.ns7"), "proxy-cluster": views.ClusterURL("10.0.7.0.ns7", "outbound|80||s7.ns7.svc.cluster.local"),
		"pushes": "/pushes", "config": "/config", "slices": "/slices", "clusters": "/clusters", "snapshots": "/snapshots",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, path, http.NoBody)
				r.Host = "localhost"
				r.Header.Set("Accept", "text/html")
				bearer(r)
				w := httptest.NewRecorder()
				if h.ServeHTTP(w, r); w.Code != http.StatusOK {
					b.Fatalf("%s: %d", path, w.Code)
				}
			}
		})
	}
}
