package kubetest_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edsight/edsight/test/kubetest"
)

// The controllers write a slice for a Pod that the test runs, and the API
// server comes back with it after a crash.
func TestClusterRunsPodsAndSurvivesACrash(t *testing.T) {
	t.Parallel()
	c := kubetest.Start(t, kubetest.Options{Controllers: true})
	c.Namespace("shop")
	c.Node("n1", "z1")
	c.Service("shop", "web")
	slices := c.Client.DiscoveryV1().EndpointSlices("shop")
	watch, err := slices.Watch(t.Context(), metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=web"})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	c.RunPod(kubetest.Pod{Namespace: "shop", Name: "web-1", Node: "n1", IP: "10.1.0.1", Labels: map[string]string{"app": "web"}})
	for e := range watch.ResultChan() {
		s, ok := e.Object.(*discoveryv1.EndpointSlice)
		if ok && len(s.Endpoints) == 1 && *s.Endpoints[0].Conditions.Ready {
			break
		}
	}
	c.StopAPIServer()
	c.StartAPIServer()
	list, err := slices.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].Endpoints[0].Addresses[0] != "10.1.0.1" {
		t.Fatalf("slices after the crash: %v, %v", list, err)
	}
	pod, err := c.Client.CoreV1().Pods("shop").Get(t.Context(), "web-1", metav1.GetOptions{})
	if err != nil || pod.Status.Phase != corev1.PodRunning {
		t.Fatalf("pod after the crash: %v, %v", pod, err)
	}
}
