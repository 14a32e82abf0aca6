package compare_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/edsight/edsight/core/archive"
	"github.com/edsight/edsight/core/compare"
	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/source/memory"
)

// BenchmarkStates compares an exported state of 2,000 services with 25 Pods each,
// all of which have proxies, with the one after an endpoint's change.
func BenchmarkStates(b *testing.B) {
	mesh := coretest.Mesh{Services: 2000, Namespaces: 50, Endpoints: 25}
	store := memory.New("bench", time.Now)
	mesh.Fill(store)
	core := control.New(control.Options{Source: store})
	store.Attach(core)
	core.Flush()
	var file bytes.Buffer
	if err := archive.Write(&file, &archive.Content{Snapshot: core.Snapshot()}); err != nil {
		b.Fatal(err)
	}
	store.Put(mesh.SliceKey(0), mesh.Slice(0, 1, false))
	core.Flush()
	size := file.Len()
	c, err := archive.Read(&file, archive.DefaultLimits())
	if err != nil {
		b.Fatal(err)
	}
	before := compare.Side{Snap: c.Snapshot, Scopes: &scope.Cache{}}
	after := compare.Side{Snap: core.Snapshot(), Scopes: &scope.Cache{}}
	b.Run("services", func(b *testing.B) {
		for b.Loop() {
			if d := registry.Between(before.Snap, after.Snap); len(d.Services) != 1 || len(d.Proxies) != 0 {
				b.Fatalf("%d services and %d proxies differ", len(d.Services), len(d.Proxies))
			}
		}
		b.ReportMetric(float64(size)/(1<<20), "MiB-archive")
	})
	b.Run("proxies", func(b *testing.B) {
		changed := map[model.ServiceKey]bool{registry.Between(before.Snap, after.Snap).Services[0].Key: true}
		for b.Loop() {
			n := 0
			for range compare.Proxies(before, after, changed) {
				n++
			}
			if n != 50_000 {
				b.Fatalf("%d proxies differ", n)
			}
		}
	})
	b.Run("one proxy", func(b *testing.B) {
		for b.Loop() {
			for p := range before.Snap.Proxies() {
				if d := compare.Sets(before.Set(p), after.Set(after.Snap.Proxy(p.ID))); d.OnlyHere != 1 {
					b.Fatalf("%+v", d.Counts)
				}
				break
			}
		}
	})
}
