package kube

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/edsight/edsight/core/source"
)

var (
	early = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	late  = metav1.NewTime(early.Add(time.Hour))
)

func fullMeta() metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: "web-1", Namespace: "shop", UID: "u", ResourceVersion: "7", Generation: 3,
		CreationTimestamp: early, Labels: map[string]string{"app": "web"}, GenerateName: "web-",
		Finalizers:      []string{"f"},
		OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web-5"}},
		Annotations: map[string]string{
			"sidecar.istio.io/status": "{}", "istio.io/rev": "default", "notistio.io/x": "y", lastApplied: "huge",
		},
		ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "kubelet", Time: &late, FieldsV1: &metav1.FieldsV1{}, Operation: metav1.ManagedFieldsOperationUpdate},
			{Manager: "kubectl", Time: &early, FieldsV1: &metav1.FieldsV1{}},
		},
	}
}

func strippedMeta() metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: "web-1", Namespace: "shop", UID: "u", ResourceVersion: "7",
		CreationTimestamp: early, Labels: map[string]string{"app": "web"}, GenerateName: "web-",
		OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web-5"}},
		Annotations:     map[string]string{"sidecar.istio.io/status": "{}", "istio.io/rev": "default"},
		ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "kubelet", Time: &late}},
	}
}

func fullPod() *corev1.Pod {
	always := corev1.ContainerRestartPolicyAlways
	ports := []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}
	return &corev1.Pod{
		ObjectMeta: fullMeta(),
		Spec: corev1.PodSpec{
			NodeName: "n1", ServiceAccountName: "sa", Hostname: "h", Subdomain: "s", HostNetwork: true,
			Volumes: []corev1.Volume{{Name: "v"}},
			InitContainers: []corev1.Container{
				{Name: "istio-init"}, {Name: "sidecar", RestartPolicy: &always, Image: "i"},
			},
			Containers: []corev1.Container{
				{Name: "app", Image: "i", Args: []string{"secret"}, Env: []corev1.EnvVar{{Name: "PASSWORD", Value: "x"}}, Ports: ports},
				{
					Name: "istio-proxy", Image: "i", Args: []string{"proxy", "sidecar"},
					Env: []corev1.EnvVar{
						{Name: "ISTIO_META_NETWORK", Value: "net1"},
						{Name: "TOKEN", Value: "x"},
						{Name: "ISTIO_META_FROM", ValueFrom: &corev1.EnvVarSource{}},
					},
				},
			},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: "10.1.0.1", PodIPs: []corev1.PodIP{{IP: "10.1.0.1"}}, HostIP: "10.0.0.1",
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
				{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "R", LastProbeTime: late, LastTransitionTime: early},
			},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "app"}},
		},
	}
}

func TestStripPodKeepsWhatIsReadOnly(t *testing.T) {
	t.Parallel()
	always := corev1.ContainerRestartPolicyAlways
	want := &corev1.Pod{
		ObjectMeta: strippedMeta(),
		Spec: corev1.PodSpec{
			NodeName: "n1", ServiceAccountName: "sa", Hostname: "h", Subdomain: "s", HostNetwork: true,
			InitContainers: []corev1.Container{{Name: "sidecar", RestartPolicy: &always}},
			Containers: []corev1.Container{
				{Name: "app", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}},
				{Name: "istio-proxy", Image: "i", Args: []string{"proxy", "sidecar"}, Env: []corev1.EnvVar{{Name: "ISTIO_META_NETWORK", Value: "net1"}}},
			},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: "10.1.0.1", PodIPs: []corev1.PodIP{{IP: "10.1.0.1"}},
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "R", LastTransitionTime: early}},
		},
	}
	got := stripPod(fullPod())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stripped pod (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, stripPod(got)); diff != "" {
		t.Errorf("stripped twice (-want +got):\n%s", diff)
	}
}

func TestStripKeepsWhatServicesAndSlicesSay(t *testing.T) {
	t.Parallel()
	service := stripService(&corev1.Service{
		ObjectMeta: fullMeta(),
		Spec:       corev1.ServiceSpec{ClusterIP: "10.96.0.1", Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromString("http")}}},
		Status:     corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}}},
	})
	if service.Spec.ClusterIP != "10.96.0.1" || service.Spec.Ports[0].TargetPort.StrVal != "http" || len(service.Status.LoadBalancer.Ingress) != 1 {
		t.Errorf("service lost something: %+v", service)
	}
	slice := stripSlice(&discoveryv1.EndpointSlice{ObjectMeta: fullMeta(), Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.1.0.1"}}}})
	if len(slice.Endpoints) != 1 {
		t.Errorf("slice lost its endpoints: %+v", slice)
	}
	config := stripConfigMap(&corev1.ConfigMap{ObjectMeta: fullMeta(), Data: map[string]string{"mesh": "x"}})
	if config.Data["mesh"] != "x" {
		t.Errorf("config map lost its data: %+v", config)
	}
	for _, o := range []source.Object{service, slice, config} {
		if _, ok := o.GetAnnotations()[lastApplied]; ok || o.GetAnnotations()["notistio.io/x"] != "y" {
			t.Errorf("%T has annotations %v", o, o.GetAnnotations())
		}
		if len(o.GetManagedFields()) != 1 || source.Actor(o) != "kubelet" {
			t.Errorf("%T has managed fields %v", o, o.GetManagedFields())
		}
	}
}

// Each change here must be told; the first must not.
func TestSamePodSeesWhatMatters(t *testing.T) {
	t.Parallel()
	changes := []struct {
		name   string
		same   bool
		change func(*corev1.Pod)
	}{
		{"only who wrote it", true, func(p *corev1.Pod) {
			p.ResourceVersion, p.Generation, p.ManagedFields = "8", 4, nil
			p.Status.Conditions[1].LastProbeTime = early
			p.Status.ContainerStatuses, p.Spec.Containers[0].Image = nil, "j"
		}},
		{"label", false, func(p *corev1.Pod) { p.Labels = map[string]string{"app": "api"} }},
		{"annotation", false, func(p *corev1.Pod) { p.Annotations["istio.io/rev"] = "canary" }},
		{"replaced", false, func(p *corev1.Pod) { p.UID = "other" }},
		{"terminating", false, func(p *corev1.Pod) { p.DeletionTimestamp = &late }},
		{"ready", false, func(p *corev1.Pod) { p.Status.Conditions[1].Status = corev1.ConditionTrue }},
		{"phase", false, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }},
		{"address", false, func(p *corev1.Pod) { p.Status.PodIP = "10.1.0.2" }},
		{"node", false, func(p *corev1.Pod) { p.Spec.NodeName = "n2" }},
		{"network", false, func(p *corev1.Pod) { p.Spec.Containers[1].Env[0].Value = "net2" }},
	}
	for _, c := range changes {
		p := fullPod()
		c.change(p)
		if got := samePod(stripPod(fullPod()), stripPod(p)); got != c.same {
			t.Errorf("%s: same is %v", c.name, got)
		}
	}
}

func TestSameNodeAndNamespaceSeeWhatMatters(t *testing.T) {
	t.Parallel()
	node := func(change func(*corev1.Node)) *corev1.Node {
		n := &corev1.Node{ObjectMeta: fullMeta(), Status: corev1.NodeStatus{
			Addresses:  []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0.1"}},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, LastHeartbeatTime: early}},
		}}
		change(n)
		return stripNode(n)
	}
	before := node(func(*corev1.Node) {})
	if !sameNode(before, node(func(n *corev1.Node) { n.Status.Conditions = nil; n.ResourceVersion = "8" })) {
		t.Error("a heartbeat changes a node")
	}
	if sameNode(before, node(func(n *corev1.Node) { n.Status.Addresses[0].Address = "10.0.0.2" })) {
		t.Error("an address does not change a node")
	}
	if sameNode(before, node(func(n *corev1.Node) { n.Labels = nil })) {
		t.Error("labels do not change a node")
	}
	m := fullMeta()
	m.Labels = nil
	one, other := stripNamespace(&corev1.Namespace{ObjectMeta: fullMeta()}), stripNamespace(&corev1.Namespace{ObjectMeta: m})
	if sameNamespace(one, other) || !sameNamespace(one, one.DeepCopy()) {
		t.Error("labels do not change a namespace, or nothing does")
	}
}
