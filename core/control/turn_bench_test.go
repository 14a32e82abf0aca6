package control_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source/memory"
)

// BenchmarkMeshChange measures a turn in which everything is compiled again, as
// the mesh configuration changed.
func BenchmarkMeshChange(b *testing.B) {
	m := coretest.Mesh{Services: 1000, Namespaces: 20, Endpoints: 10}
	store := memory.New("bench", time.Now)
	m.Fill(store)
	core := control.New(control.Options{Source: store})
	store.Attach(core)
	core.Flush()
	key := model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindConfigMap, Namespace: "istio-system", Name: "istio"}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		store.Put(key, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "istio", Namespace: "istio-system"},
			Data:       map[string]string{"mesh": fmt.Sprintf("trustDomain: td-%d.example", i%2)},
		})
		core.Flush()
	}
}

// BenchmarkTurn measures a turn of the writer in meshes of several sizes: the
// first one, and one after the change of one endpoint, which must not grow with
// the mesh.
func BenchmarkTurn(b *testing.B) {
	for _, m := range []coretest.Mesh{{Services: 100, Namespaces: 10, Endpoints: 5}, {Services: 1000, Namespaces: 10, Endpoints: 10}, {Services: 2000, Namespaces: 20, Endpoints: 25}, {Services: 10, Namespaces: 1, Endpoints: 1000}} {
		size := fmt.Sprintf("%dx%d", m.Services, m.Endpoints)
		b.Run("first/"+size, func(b *testing.B) {
			store := memory.New("bench", time.Now)
			m.Fill(store)
			b.ReportAllocs()
			for b.Loop() {
				core := control.New(control.Options{Source: store})
				store.Attach(core)
				core.Flush()
			}
		})
		b.Run("change/"+size, func(b *testing.B) {
			store := memory.New("bench", time.Now)
			m.Fill(store)
			core := control.New(control.Options{Source: store})
			store.Attach(core)
			core.Flush()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				store.Put(m.SliceKey(i%m.Services), m.Slice(i%m.Services, i+1, i/m.Services%2 == 1))
				core.Flush()
			}
		})
	}
}
