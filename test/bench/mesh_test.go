package bench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/edsight/edsight/test/kubetest"
)

const (
	namespace = "shop"
	services  = 1000
	pods      = 10 // of each service
	nodes     = 20
	writers   = 16 // at once, while the mesh is made
)

// newMesh is a cluster of services with Pods each. The slices are written here,
// as no controller is to act in between.
func newMesh(b *testing.B, services, pods int) (*kubetest.Cluster, []*discoveryv1.EndpointSlice) {
	b.Helper()
	k := kubetest.Start(b, kubetest.Options{Istio: true})
	k.Namespace(namespace)
	for n := range nodes {
		k.Node(node(n), fmt.Sprintf("z%d", n%3))
	}
	made := make([]*discoveryv1.EndpointSlice, services)
	group, ctx := errgroup.WithContext(b.Context())
	group.SetLimit(writers)
	for n := range services {
		group.Go(func() (err error) {
			made[n], err = addService(ctx, k.Client, n, pods)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
	return k, made
}

func node(n int) string { return fmt.Sprintf("n%d", n%nodes) }

func addService(ctx context.Context, client kubernetes.Interface, n, pods int) (*discoveryv1.EndpointSlice, error) {
	name := fmt.Sprintf("svc-%d", n)
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": name}, Ports: []corev1.ServicePort{{Name: "http", Port: 80}}},
	}
	if _, err := client.CoreV1().Services(namespace).Create(ctx, service, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	port, protocol := "http", corev1.ProtocolTCP
	number := int32(8080)
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: name}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: &port, Port: &number, Protocol: &protocol}},
	}
	for p := range pods {
		endpoint, err := addPod(ctx, client, n, p, n*pods+p)
		if err != nil {
			return nil, err
		}
		slice.Endpoints = append(slice.Endpoints, endpoint)
	}
	return client.DiscoveryV1().EndpointSlices(namespace).Create(ctx, slice, metav1.CreateOptions{})
}

func addPod(ctx context.Context, client kubernetes.Interface, service, n, number int) (discoveryv1.Endpoint, error) {
	app := fmt.Sprintf("svc-%d", service)
	name := fmt.Sprintf("%s-%d", app, n)
	ip := fmt.Sprintf("10.1.%d.%d", number/250, number%250+1)
	ready := true
	host := node(number)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{"app": app, "version": "v1"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app, UID: types.UID(app)}},
		},
		Spec: corev1.PodSpec{
			NodeName: host, ServiceAccountName: app,
			Containers: []corev1.Container{{Name: "app", Image: "app"}, {Name: "istio-proxy", Image: "proxy"}},
		},
	}
	api := client.CoreV1().Pods(namespace)
	if _, err := api.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return discoveryv1.Endpoint{}, err
	}
	patch, err := json.Marshal(map[string]any{"status": corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}})
	if err != nil {
		return discoveryv1.Endpoint{}, err
	}
	_, err = api.Patch(ctx, name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return discoveryv1.Endpoint{
		Addresses: []string{ip}, NodeName: &host, Conditions: discoveryv1.EndpointConditions{Ready: &ready},
		TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: name},
	}, err
}
