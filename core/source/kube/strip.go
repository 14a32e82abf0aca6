package kube

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/edsight/edsight/core/source"
)

// The strip functions take an object that nobody else has and return what is to
// be stored. They may be applied twice.

// lastApplied is the annotation in which kubectl keeps a copy of the object.
const lastApplied = corev1.LastAppliedConfigAnnotation

// lastManager is what remains of managedFields: who wrote the object last.
func lastManager(o metav1.Object) []metav1.ManagedFieldsEntry {
	actor := source.Actor(o)
	if actor == "" {
		return nil
	}
	kept := metav1.ManagedFieldsEntry{Manager: actor}
	for _, f := range o.GetManagedFields() {
		if f.Manager == actor && f.Time != nil && (kept.Time == nil || kept.Time.Before(f.Time)) {
			kept.Time = f.Time
		}
	}
	return []metav1.ManagedFieldsEntry{kept}
}

// stripMeta keeps all but managedFields.
func stripMeta[O source.Object](o O) O {
	o.SetManagedFields(lastManager(o))
	return o
}

// keptMeta is the metadata of objects of which only some annotations are kept.
func keptMeta(m *metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: m.Name, GenerateName: m.GenerateName, Namespace: m.Namespace, UID: m.UID,
		ResourceVersion: m.ResourceVersion, ManagedFields: lastManager(m),
		CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp,
		Labels: m.Labels, Annotations: istioAnnotations(m.Annotations), OwnerReferences: m.OwnerReferences,
	}
}

// istioAnnotations are those whose prefix is istio.io or a domain under it.
func istioAnnotations(all map[string]string) map[string]string {
	var kept map[string]string
	for k, v := range all {
		domain, _, _ := strings.Cut(k, "/")
		if domain != "istio.io" && !strings.HasSuffix(domain, ".istio.io") {
			continue
		}
		if kept == nil {
			kept = map[string]string{}
		}
		kept[k] = v
	}
	return kept
}

func withoutLastApplied(m *metav1.ObjectMeta) {
	if _, ok := m.Annotations[lastApplied]; ok {
		m.Annotations = maps.Clone(m.Annotations)
		delete(m.Annotations, lastApplied)
	}
}

func stripService(s *corev1.Service) *corev1.Service {
	withoutLastApplied(&s.ObjectMeta)
	s.Status.Conditions = nil
	return stripMeta(s)
}

func stripSlice(s *discoveryv1.EndpointSlice) *discoveryv1.EndpointSlice {
	withoutLastApplied(&s.ObjectMeta)
	return stripMeta(s)
}

func stripConfigMap(m *corev1.ConfigMap) *corev1.ConfigMap {
	withoutLastApplied(&m.ObjectMeta)
	m.BinaryData = nil
	return stripMeta(m)
}

func stripUnstructured(u *unstructured.Unstructured) *unstructured.Unstructured {
	m := metav1.ObjectMeta{Annotations: u.GetAnnotations()}
	withoutLastApplied(&m)
	u.SetAnnotations(m.Annotations)
	return stripMeta(u)
}

// stripSecret keeps nothing but the data and whose it is.
func stripSecret(s *corev1.Secret) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: s.Name, Namespace: s.Namespace, UID: s.UID,
			ResourceVersion: s.ResourceVersion, CreationTimestamp: s.CreationTimestamp,
		},
		Data: s.Data,
	}
}

func stripNamespace(n *corev1.Namespace) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: keptMeta(&n.ObjectMeta), Status: corev1.NamespaceStatus{Phase: n.Status.Phase}}
}

func stripNode(n *corev1.Node) *corev1.Node {
	return &corev1.Node{ObjectMeta: keptMeta(&n.ObjectMeta), Status: corev1.NodeStatus{Addresses: n.Status.Addresses}}
}

// anonymous is metadata without what every write changes.
func anonymous(m metav1.ObjectMeta) metav1.ObjectMeta {
	m.ResourceVersion, m.ManagedFields = "", nil
	return m
}

func sameMeta(before, after metav1.ObjectMeta) bool {
	return equality.Semantic.DeepEqual(anonymous(before), anonymous(after))
}

func sameNamespace(before, after source.Object) bool {
	b, okB := before.(*corev1.Namespace)
	a, okA := after.(*corev1.Namespace)
	return okA && okB && b.Status.Phase == a.Status.Phase && sameMeta(b.ObjectMeta, a.ObjectMeta)
}

func sameNode(before, after source.Object) bool {
	b, okB := before.(*corev1.Node)
	a, okA := after.(*corev1.Node)
	return okA && okB && equality.Semantic.DeepEqual(b.Status, a.Status) && sameMeta(b.ObjectMeta, a.ObjectMeta)
}
