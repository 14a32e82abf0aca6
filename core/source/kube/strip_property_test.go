package kube

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/randfill"

	"github.com/edsight/edsight/core/source"
)

const randomObjects = 100

// holds checks of random objects: stripping twice is stripping once, it keeps
// who the object is and who wrote it, and an object is the same as itself.
func holds[O source.Object](t *testing.T, empty func() O, strip func(O) O, same func(before, after source.Object) bool) {
	t.Helper()
	for seed := range int64(randomObjects) {
		o := empty()
		randfill.NewWithSeed(seed).NilChance(0.3).NumElements(0, 3).MaxDepth(8).Fill(o)
		before, ok := o.DeepCopyObject().(O)
		if !ok {
			t.Fatalf("copy of %T is another type", o)
		}
		stripped := strip(o)
		copied, ok := stripped.DeepCopyObject().(O)
		if !ok {
			t.Fatalf("copy of %T is another type", o)
		}
		if diff := cmp.Diff(stripped.DeepCopyObject(), any(strip(copied))); diff != "" {
			t.Fatalf("seed %d: stripped twice:\n%s", seed, diff)
		}
		if stripped.GetUID() != before.GetUID() || stripped.GetName() != before.GetName() ||
			stripped.GetNamespace() != before.GetNamespace() || stripped.GetResourceVersion() != before.GetResourceVersion() {
			t.Errorf("seed %d: %T lost its identity", seed, o)
		}
		if source.Actor(stripped) != source.Actor(before) {
			t.Errorf("seed %d: actor %q became %q", seed, source.Actor(before), source.Actor(stripped))
		}
		if same != nil && !same(stripped, copied) {
			t.Errorf("seed %d: %T is not the same as itself", seed, o)
		}
	}
}

func TestStripHoldsForRandomObjects(t *testing.T) {
	t.Parallel()
	holds(t, func() *corev1.Pod { return &corev1.Pod{} }, stripPod, samePod)
	holds(t, func() *corev1.Node { return &corev1.Node{} }, stripNode, sameNode)
	holds(t, func() *corev1.Namespace { return &corev1.Namespace{} }, stripNamespace, sameNamespace)
	holds(t, func() *corev1.Service { return &corev1.Service{} }, stripService, nil)
	holds(t, func() *corev1.ConfigMap { return &corev1.ConfigMap{} }, stripConfigMap, nil)
	holds(t, func() *discoveryv1.EndpointSlice { return &discoveryv1.EndpointSlice{} }, stripSlice, nil)
}
