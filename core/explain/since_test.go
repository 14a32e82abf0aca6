package explain_test

import (
	"testing"
	"time"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/source/memory"
)

const sinceMesh = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.10, selector: {app: web}, ports: [{name: http, port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints: [{addresses: [10.1.1.1], conditions: {ready: true}}]
`

// sinceSteps happen a minute apart. The failed step of the answer after each is dated by
// the step that made it so, which may be an earlier one.
var sinceSteps = []struct {
	change string
	cause  explain.Cause
	since  int // the step, of which the first is 1
}{
	{"apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: {name: default, namespace: client}\nspec: {egress: [{hosts: [./*]}]}\n", explain.SidecarScope, 1},
	{"apiVersion: v1\nkind: Service\nmetadata: {name: other, namespace: shop}\nspec: {clusterIP: 10.96.0.11, ports: [{name: http, port: 80}]}\n", explain.SidecarScope, 1},
	{"apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: {name: default, namespace: client}\n$op: delete\n", explain.NothingWrong, 0},
	{"apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop, annotations: {networking.istio.io/exportTo: pay}}\nspec: {clusterIP: 10.96.0.10, selector: {app: web}, ports: [{name: http, port: 80}]}\n", explain.ExportTo, 4},
	{"apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\n$op: delete\n", explain.NoService, 5},
	{"apiVersion: v1\nkind: Service\nmetadata: {name: other, namespace: shop}\n$op: delete\n", explain.NoService, 5},
}

// TestSinceOutOfScope dates what keeps a service from the proxy.
func TestSinceOutOfScope(t *testing.T) {
	start := time.Date(2024, 3, 2, 3, 4, 5, 0, time.UTC)
	now := start
	clock := func() time.Time { return now }
	store := memory.New("test", clock)
	core := control.New(control.Options{Source: store, Now: clock})
	b := &bench{core: core, store: store, explainer: explain.New(explain.Options{Objects: store, Journal: core.Journal()})}
	b.putBase(t)
	b.put(t, sinceMesh, "Kubernetes")
	store.Attach(core)
	core.Flush()
	for i, s := range sinceSteps {
		now = now.Add(time.Minute)
		b.put(t, s.change, "Kubernetes")
		core.Flush()
		a := b.explainer.Explain(core.Snapshot(), explain.Question{Proxy: "client-0.client", Host: "web.shop.svc.cluster.local", Port: 80, Address: "10.1.1.1"}, nil)
		if a.Cause != s.cause {
			t.Fatalf("after step %d: %s", i+1, a.Sentence)
		}
		for _, step := range a.Steps {
			want := start.Add(time.Duration(s.since) * time.Minute)
			if step.Verdict == explain.VerdictFailed && (!step.Since.Equal(want) || step.AtLeast) {
				t.Errorf("after step %d: %s since %s, at least %t; want %s", i+1, a.Cause, step.Since, step.AtLeast, want)
			}
		}
	}
}
