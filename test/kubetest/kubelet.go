package kubetest

import (
	"encoding/json"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Namespace creates a namespace.
func (c *Cluster) Namespace(name string) {
	c.t.Helper()
	_, err := c.Client.CoreV1().Namespaces().Create(c.t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	c.check(err, "create namespace", name)
}

// Node creates a node of region "r1" in a zone.
func (c *Cluster) Node(name, zone string) {
	c.t.Helper()
	_, err := c.Client.CoreV1().Nodes().Create(c.t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{corev1.LabelTopologyRegion: "r1", corev1.LabelTopologyZone: zone},
	}}, metav1.CreateOptions{})
	c.check(err, "create node", name)
}

// Service creates a service that selects the label app=name and forwards port
// 80, named "http", to 8080.
func (c *Cluster) Service(namespace, name string) {
	c.t.Helper()
	_, err := c.Client.CoreV1().Services(namespace).Create(c.t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": name},
			Ports:    []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)}},
		},
	}, metav1.CreateOptions{})
	c.check(err, "create service", name)
}

// Pod is what RunPod runs.
type Pod struct {
	Namespace, Name, Node, IP string
	Labels                    map[string]string
	Annotations               map[string]string
	Unready                   bool
}

// RunPod creates a Pod on its node and reports it running there.
func (c *Cluster) RunPod(p Pod) {
	c.t.Helper()
	_, err := c.Client.CoreV1().Pods(p.Namespace).Create(c.t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, Labels: maps.Clone(p.Labels), Annotations: maps.Clone(p.Annotations)},
		Spec: corev1.PodSpec{
			NodeName: p.Node, ServiceAccountName: "default",
			Containers: []corev1.Container{{Name: "app", Image: "app"}, {Name: "istio-proxy", Image: "proxy"}},
		},
	}, metav1.CreateOptions{})
	c.check(err, "create pod", p.Name)
	c.patchStatus(p.Namespace, p.Name, corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: p.IP, PodIPs: []corev1.PodIP{{IP: p.IP}},
		Conditions: []corev1.PodCondition{ready(!p.Unready)},
	})
}

// SetReady reports whether a Pod is ready.
func (c *Cluster) SetReady(namespace, name string, isReady bool) {
	c.t.Helper()
	c.patchStatus(namespace, name, corev1.PodStatus{Conditions: []corev1.PodCondition{ready(isReady)}})
}

// Terminate asks for a Pod's end; it stays, terminating, until DeletePod.
func (c *Cluster) Terminate(namespace, name string) {
	c.t.Helper()
	err := c.Client.CoreV1().Pods(namespace).Delete(c.t.Context(), name, metav1.DeleteOptions{})
	c.check(err, "delete pod", name)
}

// DeletePod reports that a Pod has ended, which removes it.
func (c *Cluster) DeletePod(namespace, name string) {
	c.t.Helper()
	var now int64
	err := c.Client.CoreV1().Pods(namespace).Delete(c.t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &now})
	c.check(err, "delete pod", name)
}

func ready(is bool) corev1.PodCondition {
	status := corev1.ConditionFalse
	if is {
		status = corev1.ConditionTrue
	}
	return corev1.PodCondition{Type: corev1.PodReady, Status: status}
}

func (c *Cluster) patchStatus(namespace, name string, status corev1.PodStatus) {
	c.t.Helper()
	patch, err := json.Marshal(map[string]any{"status": status})
	c.check(err, "marshal status of", name)
	_, err = c.Client.CoreV1().Pods(namespace).Patch(c.t.Context(), name, types.StrategicMergePatchType, patch,
		metav1.PatchOptions{FieldManager: "kubelet"}, "status")
	c.check(err, "patch status of pod", name)
}

func (c *Cluster) check(err error, what, name string) {
	c.t.Helper()
	if err != nil {
		c.t.Fatalf("%s %s: %v", what, name, err)
	}
}
