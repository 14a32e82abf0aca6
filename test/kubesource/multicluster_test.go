package kubesource_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/kube"
	"github.com/edsight/edsight/test/kubetest"
)

// definition is a custom resource definition of the multi-cluster services API,
// for a kind and its plural.
const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: PLURAL.multicluster.x-k8s.io
  annotations: {api-approved.kubernetes.io: "https://github.com/kubernetes-sigs/mcs-api"}
spec:
  group: multicluster.x-k8s.io
  scope: Namespaced
  names: {kind: KIND, plural: PLURAL}
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

const exported = `
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceExport
metadata: {name: web, namespace: shop}
---
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceImport
metadata: {name: web, namespace: shop}
spec: {type: ClusterSetIP, ips: [10.96.7.7], ports: [{port: 80}]}
`

// The multi-cluster services API is read wherever it is, from when it is there.
func TestMeshReadsTheMultiClusterServicesAPI(t *testing.T) {
	t.Parallel()
	k, far := kubetest.Start(t, kubetest.Options{}), kubetest.Start(t, kubetest.Options{})
	k.Namespace(root)
	putSecret(t, k, "far", map[string][]byte{"far": far.PortableKubeconfig(far.Config())})
	m, r := runMesh(t, k.Config(), kube.Options{})
	r.waitSynced(t)
	if st := m.Status(); len(st.Problems) > 0 {
		t.Errorf("an API that is not installed is a problem: %+v", st.Problems)
	}
	for _, c := range []*kubetest.Cluster{k, far} {
		c.Namespace("shop")
		for kind, plural := range map[string]string{"ServiceExport": "serviceexports", "ServiceImport": "serviceimports"} {
			c.Define(c.Parse([]byte(strings.NewReplacer("KIND", kind, "PLURAL", plural).Replace(definition)))...)
		}
		c.Apply(c.Parse([]byte(exported))...)
	}
	for _, id := range []model.ClusterID{"Kubernetes", "far"} {
		key := model.ObjectKey{Cluster: id, Kind: model.KindServiceImport, Namespace: "shop", Name: "web"}
		told := func(kind model.Kind) func(r *record) bool {
			return func(r *record) bool {
				return slices.ContainsFunc(r.causes, func(c source.Cause) bool { return c.Key.Kind == kind && c.Key.Cluster == id })
			}
		}
		r.wait(t, "import in "+string(id), told(model.KindServiceImport))
		r.wait(t, "export in "+string(id), told(model.KindServiceExport))
		o, ok := m.Get(key).(*unstructured.Unstructured)
		if !ok {
			t.Fatalf("import in %s: %T", id, m.Get(key))
		}
		ips, _, err := unstructured.NestedStringSlice(o.Object, "spec", "ips")
		if err != nil || !slices.Equal(ips, []string{"10.96.7.7"}) {
			t.Errorf("addresses of the import in %s: %v, %v", id, ips, err)
		}
		if o.GetKind() != "ServiceImport" || len(o.GetManagedFields()) != 1 || source.Actor(o) != "kubetest" {
			t.Errorf("import in %s: %v", id, o)
		}
	}
}
