package dataplane

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/kube"
	"github.com/edsight/edsight/test/kubetest"
)

// TestEnvoyOutlivesTheAPIServer loses the API server under a connected Envoy, which
// keeps what it has and follows again when the server is back.
func TestEnvoyOutlivesTheAPIServer(t *testing.T) {
	c := kubetest.Start(t, kubetest.Options{Istio: true})
	c.Namespace("istio-system")
	c.Namespace("shop")
	c.Node("node-a", "a")
	c.Service("shop", "web")
	c.RunPod(kubetest.Pod{Namespace: "shop", Name: "client-0", Node: "node-a", IP: "10.8.0.1"})
	m := meshOf(t, func() source.Source {
		s, err := kube.New(c.Config(), kube.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
	w := &world{mesh: m, envoy: startEnvoy(t, m, true)}
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: "web-1", Namespace: "shop", Labels: map[string]string{discoveryv1.LabelServiceName: "web"}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: new("http"), Port: new(int32(8080)), Protocol: new(corev1.ProtocolTCP)}},
	}
	endpoints := func(ips ...string) {
		slice.Endpoints = nil
		for _, ip := range ips {
			slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{ip}})
		}
	}
	endpoints("10.0.0.1")
	slice, err := c.Client.DiscoveryV1().EndpointSlices("shop").Create(t.Context(), slice, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.has("10.0.0.1:8080")
	for range 2 {
		c.StopAPIServer()
		w.agree("without the API server")
		c.StartAPIServer()
		endpoints("10.0.0.1", "10.0.0.2")
		if slice, err = c.Client.DiscoveryV1().EndpointSlices("shop").Update(t.Context(), slice, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		w.has("10.0.0.1:8080", "10.0.0.2:8080")
		endpoints("10.0.0.3")
		if slice, err = c.Client.DiscoveryV1().EndpointSlices("shop").Update(t.Context(), slice, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		w.has("10.0.0.3:8080")
	}
	w.agree("in the end")
}

// has waits until Envoy has exactly these endpoints of the service.
func (w *world) has(want ...string) {
	w.t.Helper()
	w.eventually("Envoy has "+want[0], func() bool {
		have := w.envoy.hosts()[web]
		if len(have) != len(want) {
			return false
		}
		for i, one := range have {
			if len(one) < len(want[i]) || one[:len(want[i])] != want[i] {
				return false
			}
		}
		return true
	})
}
