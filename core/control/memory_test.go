package control_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source/memory"
)

// TestMemoryStaysFlat changes slices, and lets Pods with ever new names come and
// go, 10,000 times: once the journal is full, nothing may grow.
func TestMemoryStaysFlat(t *testing.T) {
	mesh := coretest.Mesh{Services: 50, Namespaces: 5, Endpoints: 5}
	store := memory.New("test", time.Now)
	mesh.Fill(store)
	core := control.New(control.Options{Source: store, JournalSize: 200})
	store.Attach(core)
	core.Flush()
	change := func(i int) {
		store.Put(mesh.SliceKey(i%mesh.Services), mesh.Slice(i%mesh.Services, i+1, i/mesh.Services%2 == 1))
		core.Flush()
		name := fmt.Sprintf("pod-%d", i)
		key := model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindPod, Namespace: "load-0", Name: name}
		store.Put(key, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "load-0"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "istio-proxy"}}},
			Status:     corev1.PodStatus{PodIP: fmt.Sprintf("10.200.%d.%d", i>>8&255, i&255)},
		})
		core.Flush()
		store.Delete(key)
		core.Flush()
	}
	for i := range 2000 {
		change(i)
	}
	before := heap()
	for i := range 10000 {
		change(2000 + i)
	}
	if after := heap(); after > before*11/10 {
		t.Errorf("the heap grew from %d to %d bytes over 10,000 changes", before, after)
	}
	runtime.KeepAlive(core)
}

// heap is the size of what is alive.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
