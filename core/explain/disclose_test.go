package explain_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
)

// TestDisclosesNothing asks every question of the table as somebody who may see the
// proxy's namespace alone: no workload and no slice of another namespace is named,
// and whether the endpoint is there is answered as to everybody.
func TestDisclosesNothing(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			c := readCase(t, path)
			b := newBench(t, c.Features)
			b.load(t, c)
			for _, q := range c.Questions {
				_, own, _ := strings.Cut(q.Proxy, ".")
				mine := func(namespace string) bool { return namespace == own }
				all, some := b.explainer.Explain(b.core.Snapshot(), q, nil), b.explainer.Explain(b.core.Snapshot(), q, mine)
				if all.Present != some.Present {
					t.Errorf("present is %t to everybody, and %t to the viewer", all.Present, some.Present)
				}
				namesNothing(t, some, own)
				namesNothing(t, b.explainer.Trace(b.core.Snapshot(), q.Address, mine), own)
			}
		})
	}
}

// namesNothing fails if an answer names a Pod, slice or the like of a namespace
// other than the asker's own.
func namesNothing(t *testing.T, answer any, own string) {
	t.Helper()
	text, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []model.Kind{model.KindPod, model.KindEndpointSlice, model.KindWorkloadEntry, model.KindEndpoints, model.KindPeerAuthentication} {
		for _, ns := range []string{"shop", "pay", "istio-system"} {
			if ns == own {
				continue
			}
			for _, name := range []string{string(kind) + " " + ns + "/", string(kind) + "/" + ns + "/", `"kind":"` + string(kind) + `","namespace":"` + ns + `"`} {
				if strings.Contains(string(text), name) {
					t.Errorf("it names %s: %s", name, text)
				}
			}
		}
	}
}

// FuzzExplain asks anything: every question has a complete answer.
func FuzzExplain(f *testing.F) {
	f.Add("client-0.client", "web.shop.svc.cluster.local", uint32(80), "v2", "10.1.1.1", false)
	f.Add("client-0.client", "", uint32(0), "", "[::1]:80", true)
	f.Add("", "*.example.com", uint32(1<<31), "\x00", "10.1.1.1:8080", false)
	f.Add("client-0.client", "web.shop.svc.cluster.local", uint32(80), "", "0", true)
	b := newBench(f, registry.Features{})
	b.put(f, fuzzMesh, "Kubernetes")
	b.store.Attach(b.core)
	b.core.Flush()
	f.Fuzz(func(t *testing.T, proxy, host string, port uint32, subset, address string, passthrough bool) {
		q := explain.Question{Proxy: proxy, Host: model.Hostname(host), Port: port, Subset: subset, Address: address, Passthrough: passthrough}
		a := b.explainer.Explain(b.core.Snapshot(), q, nil)
		checkAnswer(t, a)
		if a.Sentence == "" {
			t.Error("no sentence")
		}
		b.explainer.Trace(b.core.Snapshot(), address, nil)
	})
}

const fuzzMesh = `
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
endpoints: [{addresses: [10.1.1.1], conditions: {ready: true}}, {addresses: [10.1.1.2], conditions: {ready: false}}]
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: web, namespace: shop}
spec: {host: web, subsets: [{name: v2, labels: {version: v2}}]}
`
