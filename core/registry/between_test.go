package registry_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/edsight/edsight/core/archive"
	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/demo"
	"github.com/edsight/edsight/core/state"
)

// exported is what an archive keeps of a snapshot.
func exported(t *testing.T, s *state.Snapshot) *state.Snapshot {
	t.Helper()
	var b bytes.Buffer
	if err := archive.Write(&b, &archive.Content{Snapshot: s}); err != nil {
		t.Fatal(err)
	}
	c, err := archive.Read(&b, archive.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return c.Snapshot
}

// TestBetweenAnArchiveAndItself exports the demo mesh, which has something of
// everything.
func TestBetweenAnArchiveAndItself(t *testing.T) {
	src, err := demo.New(demo.Options{Speed: 1, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	core := control.New(control.Options{Source: src})
	for key := range src.All() {
		core.Dirty(source.Cause{Key: key, Op: source.OpAdd})
	}
	core.Synced()
	core.Flush()
	snap := core.Snapshot()
	if snap.ServiceCount() == 0 || snap.ProxyCount() == 0 {
		t.Fatal("the demo is empty")
	}
	if d := registry.Between(snap, exported(t, snap)); !d.Empty() {
		t.Errorf("differs: %+v", d)
	}
}

const between = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.1, ports: [{name: http, port: %d}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints: [{addresses: [%s], conditions: {ready: true}}]
`

// TestBetweenSaysWhatTransitionsSay takes each step alone from an archive, which has
// to come to the difference that the writer found.
func TestBetweenSaysWhatTransitionsSay(t *testing.T) {
	c := coretest.New(t)
	c.Apply(fmt.Sprintf(between, 80, "10.0.0.1"))
	for name, yaml := range map[string]string{
		"nothing":     fmt.Sprintf(between, 80, "10.0.0.1"),
		"endpoint":    fmt.Sprintf(between, 80, "10.0.0.2"),
		"definition":  fmt.Sprintf(between, 81, "10.0.0.1"),
		"gone":        "$op: delete\napiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\n",
		"config":      "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: web, namespace: shop}\nspec: {host: web}\n",
		"other label": "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: web, namespace: shop, labels: {istio.io/rev: x}}\nspec: {host: web}\n",
		"proxy":       "apiVersion: v1\nkind: Pod\nmetadata: {name: a-0, namespace: shop}\nspec: {containers: [{name: istio-proxy}]}\nstatus: {podIP: 10.0.0.9, phase: Running}\n",
		"stray":       "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: lost, namespace: shop}\naddressType: IPv4\nendpoints: [{addresses: [10.0.0.7]}]\n",
		"mesh":        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: istio, namespace: istio-system}\ndata: {mesh: \"trustDomain: example.org\"}\n",
	} {
		before := exported(t, c.Snapshot())
		tr := c.Apply(yaml)
		if got, want := summary(registry.Between(before, tr.Next)), summary(tr.Diff); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
		if got := registry.Between(before, before); !got.Empty() {
			t.Errorf("%s: a snapshot differs from itself: %+v", name, got)
		}
	}
}

// TestSpecsOfServiceImports count, although no type holds them.
func TestSpecsOfServiceImports(t *testing.T) {
	const text = "apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ServiceImport\nmetadata: {name: web, namespace: shop}\nspec: {ips: [%s]}\n"
	c := coretest.New(t)
	c.Apply(fmt.Sprintf(text, "10.99.0.1"))
	before := exported(t, c.Snapshot())
	tr := c.Apply(fmt.Sprintf(text, "10.99.0.2"))
	if tr == nil || len(tr.Diff.Configs) != 1 {
		t.Errorf("another address gives %+v", tr)
	}
	if d := registry.Between(before, c.Snapshot()); len(d.Configs) != 1 {
		t.Errorf("between them differs %+v", d)
	}
	if d := registry.Between(exported(t, c.Snapshot()), c.Snapshot()); !d.Empty() {
		t.Errorf("an archive differs by %+v", d)
	}
}

func summary(d *state.Diff) string {
	text := fmt.Sprint(d.Configs, d.Mesh, d.Networks, d.Strays)
	for _, s := range d.Services {
		text += fmt.Sprint(" ", s.Key, s.Prev == nil, s.Next == nil, s.Definition)
		for _, e := range s.Endpoints {
			text += " " + string(e.Kind())
		}
	}
	for _, p := range d.Proxies {
		text += fmt.Sprint(" ", p.ID, p.Prev == nil, p.Next == nil)
	}
	return text
}
