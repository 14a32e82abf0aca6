package coretest

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source/memory"
)

// Mesh describes a regular mesh for measurements: Services spread evenly over
// Namespaces, each with one slice of Endpoints Pods that have a proxy.
type Mesh struct{ Services, Namespaces, Endpoints int }

// Fill puts the objects of the mesh into a store.
func (m Mesh) Fill(s *memory.Store) {
	for z := range 6 {
		name := fmt.Sprintf("node-%d", z)
		s.Put(model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindNode, Name: name}, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{model.LabelRegion: fmt.Sprintf("r%d", z/3), model.LabelZone: fmt.Sprintf("z%d", z)},
		}})
	}
	for i := range m.Services {
		s.Put(m.key(model.KindService, i, m.Name(i)), m.service(i))
		for e := range m.Endpoints {
			p := m.pod(i, e)
			s.Put(m.key(model.KindPod, i, p.Name), p)
		}
		s.Put(m.SliceKey(i), m.Slice(i, 0, true))
	}
}

// Name of the service with the index.
func (m Mesh) Name(i int) string { return fmt.Sprintf("svc-%d", i) }

// Namespace of the service with the index.
func (m Mesh) Namespace(i int) string { return fmt.Sprintf("load-%d", i%m.Namespaces) }

// SliceKey is the key of a service's slice.
func (m Mesh) SliceKey(i int) model.ObjectKey {
	return m.key(model.KindEndpointSlice, i, m.Name(i)+"-slice")
}

// Slice returns the slice of a service at a resourceVersion; its first endpoint
// is ready or not.
func (m Mesh) Slice(i, version int, ready bool) *discoveryv1.EndpointSlice {
	port, name := int32(8080), "http"
	out := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Name: m.Name(i) + "-slice", Namespace: m.Namespace(i), ResourceVersion: strconv.Itoa(version),
			Labels: map[string]string{model.LabelServiceName: m.Name(i)},
		},
		AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: &name, Port: &port}},
	}
	for e := range m.Endpoints {
		is := ready || e > 0
		out.Endpoints = append(out.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{m.address(i, e)}, Conditions: discoveryv1.EndpointConditions{Ready: &is},
			TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: m.Namespace(i), Name: m.podName(i, e)},
		})
	}
	return out
}

func (m Mesh) key(kind model.Kind, i int, name string) model.ObjectKey {
	return model.ObjectKey{Cluster: "Kubernetes", Kind: kind, Namespace: m.Namespace(i), Name: name}
}

func (m Mesh) podName(i, e int) string { return fmt.Sprintf("%s-%d", m.Name(i), e) }

func (m Mesh) address(i, e int) string {
	n := i*m.Endpoints + e
	return fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255)
}

func (m Mesh) service(i int) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: m.Name(i), Namespace: m.Namespace(i), ResourceVersion: "1"},
		Spec: corev1.ServiceSpec{
			ClusterIP: "10.96.0.1", Selector: map[string]string{"app": m.Name(i)},
			Ports: []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)}},
		},
	}
}

func (m Mesh) pod(i, e int) *corev1.Pod {
	ip := m.address(i, e)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: m.podName(i, e), Namespace: m.Namespace(i), ResourceVersion: "1",
			Labels: map[string]string{"app": m.Name(i), model.LabelTLSMode: "istio", model.LabelCanonicalName: m.Name(i)},
		},
		Spec: corev1.PodSpec{
			NodeName: fmt.Sprintf("node-%d", e%6), ServiceAccountName: "default", Containers: []corev1.Container{{Name: "istio-proxy"}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		},
	}
}
