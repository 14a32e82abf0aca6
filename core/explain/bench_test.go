package explain_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
)

// The mesh of the benchmarks.
const (
	benchServices = 2000
	benchPods     = 25
)

// largeBench is a mesh of 2,000 services with 25 Pods each.
func largeBench(b *testing.B) *bench {
	b.Helper()
	x := newBench(b, registry.Features{})
	for i := range benchServices {
		var text strings.Builder
		ns := fmt.Sprintf("ns%d", i%50)
		fmt.Fprintf(&text, "apiVersion: v1\nkind: Service\nmetadata: {name: s%d, namespace: %s}\nspec: {clusterIP: 10.96.0.1, selector: {app: s%d}, ports: [{name: http, port: 80}]}\n", i, ns, i)
		fmt.Fprintf(&text, "---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: s%d-1, namespace: %s, labels: {kubernetes.io/service-name: s%d}}\naddressType: IPv4\nports: [{name: http, port: 8080}]\nendpoints:\n", i, ns, i)
		for j := range benchPods {
			fmt.Fprintf(&text, "- {addresses: [10.%d.%d.%d], conditions: {ready: true}, targetRef: {kind: Pod, name: s%d-%d, namespace: %s}}\n", i/250+1, i%250, j+1, i, j, ns)
		}
		for j := range benchPods {
			fmt.Fprintf(&text, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: s%d-%d, namespace: %s, labels: {app: s%d}}\nspec: {containers: [{name: app}, {name: istio-proxy}]}\nstatus: {phase: Running, podIP: 10.%d.%d.%d, conditions: [{type: Ready, status: 'True'}]}\n", i, j, ns, i, i/250+1, i%250, j+1)
		}
		x.put(b, text.String(), "Kubernetes")
	}
	x.store.Attach(x.core)
	x.core.Flush()
	return x
}

// BenchmarkExplain answers questions in a mesh of 50,000 endpoints: about one that
// is there, one that nothing lists (for which every object is looked at), and an
// address alone.
func BenchmarkExplain(b *testing.B) {
	x := largeBench(b)
	snap := x.core.Snapshot()
	ask := func(address string) explain.Question {
		return explain.Question{Proxy: "client-0.client", Host: model.Hostname("s7.ns7.svc.cluster.local"), Port: 80, Address: address}
	}
	for name, q := range map[string]explain.Question{"present": ask("10.1.7.3"), "other": ask("10.1.8.3"), "nothing": ask("10.255.0.1"), "any": ask("")} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				x.explainer.Explain(snap, q, nil)
			}
		})
	}
	b.Run("trace", func(b *testing.B) {
		for b.Loop() {
			x.explainer.Trace(snap, "10.1.7.3", nil)
		}
	})
}

// BenchmarkTurn takes turns of the writer, alone and with somebody beside it who
// asks all the time: readers must not cost it anything but their share of the
// processors.
func BenchmarkTurn(b *testing.B) {
	x := largeBench(b)
	slice := func(n int) string {
		return fmt.Sprintf("apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: s9-2, namespace: ns9, resourceVersion: %q, labels: {kubernetes.io/service-name: s9}}\naddressType: IPv4\nports: [{name: http, port: 8080}]\nendpoints: [{addresses: [10.200.0.%d], conditions: {ready: true}}]\n", fmt.Sprint(n), n%200+1)
	}
	for name, readers := range map[string]int{"alone": 0, "beside one who asks": 1} {
		b.Run(name, func(b *testing.B) {
			ctx, stop := context.WithCancel(b.Context())
			var wg sync.WaitGroup
			for range readers {
				wg.Go(func() {
					for ctx.Err() == nil {
						x.explainer.Explain(x.core.Snapshot(), explain.Question{Proxy: "client-0.client", Host: "s7.ns7.svc.cluster.local", Port: 80, Address: "10.1.7.3"}, nil)
					}
				})
			}
			var took []time.Duration
			n := 0
			for b.Loop() {
				n++
				x.put(b, slice(n), "Kubernetes")
				start := time.Now()
				x.core.Flush()
				took = append(took, time.Since(start))
			}
			stop()
			wg.Wait()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs/turn")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs/turn")
		})
	}
}

// BenchmarkFirst answers the first question: when it comes before all objects were
// read, and when Run has read them. What is kept is reported.
func BenchmarkFirst(b *testing.B) {
	x := largeBench(b)
	snap := x.core.Snapshot()
	for name, ready := range map[string]bool{"at once": false, "when ready": true} {
		b.Run(name, func(b *testing.B) {
			b.StopTimer()
			var kept int64
			for range b.N {
				e := explain.New(explain.Options{Objects: x.store, Journal: x.core.Journal()})
				before := inUse()
				if ready {
					e.Follow()
				}
				b.StartTimer()
				e.Explain(snap, explain.Question{Proxy: "client-0.client", Host: "s7.ns7.svc.cluster.local", Port: 80, Address: "10.255.0.1"}, nil)
				b.StopTimer()
				kept += inUse() - before
				runtime.KeepAlive(e)
			}
			b.ReportMetric(float64(kept)/float64(b.N), "B-kept")
		})
	}
}

// inUse is what the heap holds.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
