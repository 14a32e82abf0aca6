package kube

import (
	"fmt"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// encodedPods are Pods as they come from the API server: 25 of each service.
func encodedPods(b *testing.B, n int) [][]byte {
	b.Helper()
	all := make([][]byte, n)
	for i := range all {
		p := fullPod()
		app := fmt.Sprintf("app-%d", i/25)
		p.Name, p.UID, p.ResourceVersion = fmt.Sprintf("%s-5d8f7c9b6d-%05d", app, i), "0d0b6c5e-5f0e-4c1e-9f57-6d1c2f7f6a11", fmt.Sprint(i)
		p.Labels = map[string]string{
			"app": app, "version": "v1", "pod-template-hash": "5d8f7c9b6d", "security.istio.io/tlsMode": "istio",
			"service.istio.io/canonical-name": app, "service.istio.io/canonical-revision": "v1",
			"app.kubernetes.io/name": app, "app.kubernetes.io/part-of": "shop",
		}
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app + "-5d8f7c9b6d", UID: types.UID(app)}}
		p.Spec.NodeName, p.Status.PodIP = fmt.Sprintf("node-%d.example.com", i%50), fmt.Sprintf("10.1.%d.%d", i/250, i%250)
		p.Status.PodIPs = []corev1.PodIP{{IP: p.Status.PodIP}}
		encoded, err := p.Marshal()
		if err != nil {
			b.Fatal(err)
		}
		all[i] = encoded
	}
	return all
}

// BenchmarkStripPod gives the time of one Pod and, as B/pod, what it holds of the
// heap after the garbage collection.
func BenchmarkStripPod(b *testing.B) {
	const pods = 20_000
	encoded := encodedPods(b, pods)
	kept := make([]*corev1.Pod, pods)
	var before, after runtime.MemStats
	for b.Loop() {
		s := newSiblings()
		clear(kept)
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range encoded {
			p := &corev1.Pod{}
			if err := p.Unmarshal(encoded[i]); err != nil {
				b.Fatal(err)
			}
			kept[i] = s.strip(p)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/pods, "B/pod")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/pods, "ns/pod")
	runtime.KeepAlive(kept)
}
