package explain_test

import (
	"fmt"
	"strings"
	"testing"

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
