package server

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// newLargeCore holds services with that many endpoints each.
func newLargeCore(services, endpoints int) *fakeCore {
	core := newFakeCore()
	b := state.NewBuilder(core.snap)
	for i := range services {
		key := model.ServiceKey{Hostname: model.Hostname(fmt.Sprintf("s%d.ns%d.svc.cluster.local", i, i%50)), Namespace: fmt.Sprintf("ns%d", i%50)}
		b.SetService(key, largeService(key, i, endpoints))
	}
	core.snap = b.Snapshot(time.Unix(1700000000, 0))
	return core
}

func largeService(key model.ServiceKey, i, endpoints int) *state.ServiceState {
	slice := model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindEndpointSlice, Namespace: key.Namespace, Name: string(key.Hostname)}
	sh := &state.Shard{Key: model.ShardKey{Provider: model.ProviderKubernetes, Cluster: "Kubernetes"}, Endpoints: endpoints}
	for e := range endpoints {
		addr := fmt.Sprintf("10.%d.%d.%d", i/250, i%250, e)
		w := &model.Workload{
			Object: model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindPod, Namespace: key.Namespace, Name: addr}, Name: "app",
			Namespace: key.Namespace, ServiceAccount: "spiffe://cluster.local/ns/" + key.Namespace + "/sa/app", Cluster: "Kubernetes",
			Locality: model.Locality{Region: "eu", Zone: "eu-a"}, Node: "node-1", TLSMode: "istio",
			Labels: model.Labels{
				"app": "app", "version": "v1", "security.istio.io/tlsMode": "istio", "service.istio.io/canonical-name": "app",
				"topology.istio.io/cluster": "Kubernetes", "topology.istio.io/network": "", "kubernetes.io/hostname": "node-1",
			},
		}
		sh.Candidates = append(sh.Candidates, &model.Candidate{Source: &slice, Address: addr, PortName: "http", Port: 8080, Endpoint: &model.Endpoint{
			Workload: w, Addresses: []string{addr}, PortName: "http", Port: 8080, Health: model.Healthy,
		}})
	}
	sh.Chunks = []*state.Chunk{{Source: slice, Candidates: sh.Candidates}}
	return &state.ServiceState{
		Key: key, Shards: []*state.Shard{sh}, ServiceAccounts: []string{"spiffe://cluster.local/ns/" + key.Namespace + "/sa/app"},
		Definitions: []*model.Service{{
			Key: key, Name: "app", Provider: model.ProviderKubernetes, DefaultAddress: "10.96.0.1",
			Ports: []model.Port{{Name: "http", Number: 80, Protocol: model.ProtocolHTTP}},
		}},
	}
}

// discard is an answer that is thrown away.
type discard struct {
	header http.Header
	bytes  int64
}

func (d *discard) Header() http.Header { return d.header }
func (d *discard) WriteHeader(int)     {}
func (d *discard) Write(p []byte) (int, error) {
	d.bytes += int64(len(p))
	return io.Discard.Write(p)
}

// BenchmarkLarge measures the largest answers at 50,000 endpoints.
func BenchmarkLarge(b *testing.B) {
	s := New(newLargeCore(2000, 25), Options{Token: testToken})
	h := s.Handler()
	for _, path := range []string{
		"/debug/registryz", "/debug/endpointShardz", "/debug/edsz?proxyID=web-0.shop", "/debug/config_dump?proxyID=web-0.shop", "/debug/push_status",
		"/api/v1/services?limit=1000", "/api/v1/proxies/web-0.shop", "/api/v1/snapshot", "/", "/services", "/proxies/web-0.shop",
	} {
		for _, encoding := range []string{"identity", "gzip"} {
			b.Run(path+" "+encoding, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, path, http.NoBody)
					r.Host = "localhost"
					r.Header.Set("Accept-Encoding", encoding)
					bearer(r)
					w := &discard{header: http.Header{}}
					h.ServeHTTP(w, r)
					b.ReportMetric(float64(w.bytes)/1e6, "MB/answer")
				}
			})
		}
	}
}
