package cds_test

import (
	"fmt"
	"testing"
	"time"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

const (
	benchNamespaces = 20
	benchServices   = 1000
	benchPods       = 10
	benchProxies    = 200
)

// benchMesh has 1,000 services of 10 pods in 20 namespaces, each with a Sidecar
// that imports its own and two more, and 200 proxies.
func benchMesh(b *testing.B) (*state.Snapshot, []*model.Proxy) {
	b.Helper()
	var objects []any
	ns := func(i int) string { return fmt.Sprintf("ns-%d", i%benchNamespaces) }
	for i := range benchServices {
		s := with{Service: kube(fmt.Sprintf("svc-%d", i), ns(i))}
		for p := range benchPods {
			e := endpoint(fmt.Sprintf("10.%d.%d.%d", i/250, i%250, p), 8080, fmt.Sprintf("r1/z%d", p%3))
			e.Workload.Labels = model.Labels{"app": s.Name, model.LabelCanonicalName: s.Name, "version": "v1"}
			s.endpoints = append(s.endpoints, e)
		}
		objects = append(objects, s)
	}
	for i := range benchNamespaces {
		objects = append(objects, &networkingv1.Sidecar{ObjectMeta: meta("default", ns(i)), Spec: networking.Sidecar{
			Egress: []*networking.IstioEgressListener{{Hosts: []string{"./*", ns(i+1) + "/*", ns(i+2) + "/*"}}},
		}})
	}
	var proxies []*model.Proxy
	for i := range benchProxies {
		proxies = append(proxies, sidecar(func(p *model.Proxy) {
			p.ID, p.Namespace = fmt.Sprintf("p-%d", i), ns(i)
			p.Locality = model.ParseLocality(fmt.Sprintf("r1/z%d", i%3))
		}))
	}
	return snapshot(b, objects...), proxies
}

// assign builds and serialises the views of all clusters, each once.
func assign(built map[eds.View]*eds.Assignment, clusters []cds.Cluster) int {
	bytes := 0
	for i := range clusters {
		c := &clusters[i]
		if c.Type != cds.EDS || built[c.View] != nil {
			continue
		}
		a := c.Assignment()
		built[c.View] = a
		bytes += len(a.Bytes())
	}
	return bytes
}

// Everything anew: the index, all scopes, the clusters of every proxy, all views.
func BenchmarkEverything(b *testing.B) {
	snap, proxies := benchMesh(b)
	b.ReportAllocs()
	for b.Loop() {
		var cache scope.Cache
		built := map[eds.View]*eds.Assignment{}
		for _, p := range proxies {
			assign(built, cds.BuildIn(cache.For(snap, p), snap, p))
		}
	}
}

// The index and all scopes, without clusters.
func BenchmarkScopes(b *testing.B) {
	snap, proxies := benchMesh(b)
	b.ReportAllocs()
	for b.Loop() {
		var cache scope.Cache
		for _, p := range proxies {
			cache.For(snap, p)
		}
	}
}

// One endpoint of one service changes: all of its views, built and serialised.
func BenchmarkOneEndpoint(b *testing.B) {
	snap, proxies := benchMesh(b)
	key := model.ServiceKey{Hostname: "svc-7.ns-7.svc.cluster.local", Namespace: "ns-7"}
	views := map[eds.View]struct{}{}
	var cache scope.Cache
	for _, p := range proxies {
		for _, c := range cds.BuildIn(cache.For(snap, p), snap, p) {
			if c.View.Service == key {
				views[c.View] = struct{}{}
			}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		next := state.NewBuilder(snap)
		next.SetService(key, snap.Service(key))
		changed := next.Snapshot(time.Unix(0, 0))
		for v := range views {
			if len(eds.Build(changed.Service(key), v).Bytes()) == 0 {
				b.Fatal("nothing is sent")
			}
		}
	}
	b.ReportMetric(float64(len(views)), "views")
}

// A service of 10,000 endpoints.
func BenchmarkLargeService(b *testing.B) {
	s := with{Service: kube("big", "shop")}
	for i := range 10_000 {
		s.endpoints = append(s.endpoints, endpoint(fmt.Sprintf("10.0.%d.%d", i/250, i%250), 8080, "r1/z1"))
	}
	snap := snapshot(b, s)
	clusters := cds.Build(snap, sidecar())
	c := clusters[len(clusters)-1]
	for name, serialise := range map[string]bool{"build": false, "serialise": true} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if a := c.Assignment(); serialise && len(a.Bytes()) == 0 {
					b.Fatal("nothing is sent")
				}
			}
		})
	}
}
