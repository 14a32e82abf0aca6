package browser

import (
	"fmt"
	"maps"
	"testing"
	"time"

	istioapi "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/memory"
)

const cluster = "Kubernetes"

// hostile is a name that no API server would admit. Pages show it as text.
const hostile = `<img src=x onerror="window.owned=1"><script>window.owned=1</script>`

// mesh is a small shop, with some things in it that are wrong.
type mesh struct {
	store *memory.Store
	count int
}

func newMesh(tb testing.TB) *mesh {
	tb.Helper()
	m := &mesh{store: memory.New("shop", time.Now)}
	for _, ns := range []string{"istio-system", "ops", "shop"} {
		m.put(model.KindNamespace, &corev1.Namespace{ObjectMeta: m.meta("", ns, nil)})
	}
	for i, zone := range []string{"a", "b"} {
		m.put(model.KindNode, &corev1.Node{ObjectMeta: m.meta("", fmt.Sprintf("node-%d", i), map[string]string{
			model.LabelRegion: "eu-west", model.LabelZone: "eu-west-" + zone,
		})})
	}
	m.web()
	m.broken()
	m.istio()
	return m
}

// web is a service in order but for one endpoint that is leaving and one whose
// Pod is not there yet.
func (m *mesh) web() {
	m.service("shop", "web", "http", 8080)
	for i := range 5 {
		m.pod("shop", "web", i, map[string]string{"version": fmt.Sprintf("v%d", i%2+1)})
	}
	slice := m.slice("shop", "web", "http", 6)
	slice.Endpoints[4].Conditions = discoveryv1.EndpointConditions{Ready: new(false), Serving: new(true), Terminating: new(true)}
	m.put(model.KindEndpointSlice, slice)
}

// broken is what people look for: a port name that differs, a selector that
// matches nothing, a slice without a Service.
func (m *mesh) broken() {
	m.service("shop", "cart", "http", 8080)
	m.service("shop", "payments", "grpc", 9090)
	m.service("shop", "lost", "http", 8080)
	for i := range 3 {
		m.pod("shop", "cart", i, nil)
		m.pod("shop", "payments", i, nil)
	}
	m.put(model.KindEndpointSlice, m.slice("shop", "cart", "web", 3))
	m.put(model.KindEndpointSlice, m.slice("shop", "payments", "grpc", 3))
	m.put(model.KindEndpointSlice, m.slice("shop", "orphan", "http", 2))
	m.service("shop", hostile, "http", 8080)
	bad := m.slice("shop", hostile, "http", 1)
	bad.Endpoints[0].TargetRef.Name = hostile
	m.put(model.KindEndpointSlice, bad)
}

func (m *mesh) istio() {
	m.put(model.KindDestinationRule, &networkingv1.DestinationRule{
		ObjectMeta: m.meta("shop", "web", nil),
		Spec: istioapi.DestinationRule{
			Host:          "web.shop.svc.cluster.local",
			TrafficPolicy: &istioapi.TrafficPolicy{OutlierDetection: &istioapi.OutlierDetection{}},
			Subsets: []*istioapi.Subset{
				{Name: "v1", Labels: map[string]string{"version": "v1"}},
				{Name: "v3", Labels: map[string]string{"version": "v3"}},
			},
		},
	})
	m.put(model.KindServiceEntry, &networkingv1.ServiceEntry{
		ObjectMeta: m.meta("ops", "mail", nil),
		Spec: istioapi.ServiceEntry{
			Hosts: []string{"mail.example.com"}, Location: istioapi.ServiceEntry_MESH_EXTERNAL, Resolution: istioapi.ServiceEntry_STATIC,
			Ports:     []*istioapi.ServicePort{{Name: "tcp-smtp", Number: 25, Protocol: "TCP"}},
			Endpoints: []*istioapi.WorkloadEntry{{Address: "192.0.2.25"}, {Address: "192.0.2.26"}},
		},
	})
	m.put(model.KindSidecar, &networkingv1.Sidecar{
		ObjectMeta: m.meta("ops", "default", nil),
		Spec:       istioapi.Sidecar{Egress: []*istioapi.IstioEgressListener{{Hosts: []string{"./*", "shop/web.shop.svc.cluster.local"}}}},
	})
	m.pod("ops", "mailer", 0, nil)
	// A third locality makes a third view of the web.
	m.put(model.KindNode, &corev1.Node{ObjectMeta: m.meta("", "node-2", map[string]string{
		model.LabelRegion: "us-east-1", model.LabelZone: "us-east-1a",
	})})
	m.podOn("node-2", "ops", "reporter-with-a-long-name", 1, nil)
}

// put stores an object with the next resource version.
func (m *mesh) put(kind model.Kind, o source.Object) {
	m.count++
	o.SetResourceVersion(fmt.Sprint(1000 + m.count))
	m.store.Put(model.ObjectKey{Cluster: cluster, Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}, o)
}

func (m *mesh) meta(ns, name string, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: ns, Name: name, Labels: labels, CreationTimestamp: metav1.NewTime(time.Now().Add(-72 * time.Hour)),
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager"}},
	}
}

func (m *mesh) service(ns, name, port string, target int) {
	m.put(model.KindService, &corev1.Service{
		ObjectMeta: m.meta(ns, name, map[string]string{"app": "shop"}),
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, ClusterIP: fmt.Sprintf("10.96.0.%d", m.count), Selector: map[string]string{"app": name},
			Ports: []corev1.ServicePort{{Name: port, Port: 80, TargetPort: intstr.FromInt(target), Protocol: corev1.ProtocolTCP}},
		},
	})
}

func podIP(name string, i int) string { return fmt.Sprintf("10.1.%d.%d", len(name), i+10) }

func (m *mesh) pod(ns, name string, i int, labels map[string]string) {
	m.podOn(fmt.Sprintf("node-%d", i%2), ns, name, i, labels)
}

func (m *mesh) podOn(node, ns, name string, i int, labels map[string]string) {
	all := map[string]string{"app": name, model.LabelTLSMode: "istio"}
	maps.Copy(all, labels)
	ip := podIP(name, i)
	m.put(model.KindPod, &corev1.Pod{
		ObjectMeta: m.meta(ns, fmt.Sprintf("%s-7d4b9c-%d", name, i), all),
		Spec: corev1.PodSpec{
			NodeName: node, ServiceAccountName: name,
			Containers: []corev1.Container{{Name: "app"}, {Name: "istio-proxy", Args: []string{"proxy", "sidecar"}}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		},
	})
}

// slice lists the first n Pods of a service, ready.
func (m *mesh) slice(ns, name, port string, n int) *discoveryv1.EndpointSlice {
	number, protocol := int32(8080), corev1.ProtocolTCP
	s := &discoveryv1.EndpointSlice{
		ObjectMeta:  m.meta(ns, name+"-x7k2q", map[string]string{model.LabelServiceName: name}),
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: &port, Port: &number, Protocol: &protocol}},
	}
	for i := range n {
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{podIP(name, i)}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)},
			TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: ns, Name: fmt.Sprintf("%s-7d4b9c-%d", name, i)},
		})
	}
	return s
}
