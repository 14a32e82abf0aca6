package archive

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

func TestObjectsOfTheMultiClusterAPIComeBack(t *testing.T) {
	for _, kind := range []model.Kind{model.KindServiceExport, model.KindServiceImport} {
		key := model.ObjectKey{Cluster: "a", Kind: kind, Namespace: "shop", Name: "web"}
		b := state.NewBuilder(state.Empty())
		b.SetConfig(state.Config{Key: key, Object: &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": string(kind), "metadata": map[string]any{"namespace": "shop", "name": "web"},
			"spec": map[string]any{"ips": []any{"240.0.0.1"}},
		}}})
		got, ok := read(t, write(t, &Content{Snapshot: b.Snapshot(epoch)})).Snapshot.Config(key)
		if !ok {
			t.Fatalf("no %s", kind)
		}
		o, _ := got.Object.(*unstructured.Unstructured)
		ips, _, err := unstructured.NestedStringSlice(o.Object, "spec", "ips")
		if err != nil || len(ips) != 1 || ips[0] != "240.0.0.1" {
			t.Errorf("%s has ips %v, error %v", kind, ips, err)
		}
	}
}
