package kube

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/edsight/edsight/core/source"
)

const (
	proxyContainer = "istio-proxy"
	metaEnv        = "ISTIO_META_" // prefix of variables that become metadata of the proxy's node
)

func stripPod(p *corev1.Pod) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: keptMeta(&p.ObjectMeta),
		Spec: corev1.PodSpec{
			NodeName: p.Spec.NodeName, ServiceAccountName: p.Spec.ServiceAccountName,
			Hostname: p.Spec.Hostname, Subdomain: p.Spec.Subdomain, HostNetwork: p.Spec.HostNetwork,
			Containers:     stripContainers(p.Spec.Containers),
			InitContainers: stripContainers(sidecars(p.Spec.InitContainers)),
		},
		Status: corev1.PodStatus{
			Phase: p.Status.Phase, PodIP: p.Status.PodIP, PodIPs: p.Status.PodIPs,
			Conditions: readyCondition(p.Status.Conditions),
		},
	}
}

// sidecars are the init containers that go on running beside the others.
func sidecars(init []corev1.Container) []corev1.Container {
	var kept []corev1.Container
	for i := range init {
		if r := init[i].RestartPolicy; r != nil && *r == corev1.ContainerRestartPolicyAlways {
			kept = append(kept, init[i])
		}
	}
	return kept
}

// stripContainers keeps names and ports, to which Services may refer by name,
// and of the proxy what it is started with.
func stripContainers(all []corev1.Container) []corev1.Container {
	if len(all) == 0 {
		return nil
	}
	kept := make([]corev1.Container, 0, len(all))
	for i := range all {
		c := &all[i]
		k := corev1.Container{Name: c.Name, Ports: c.Ports, RestartPolicy: c.RestartPolicy}
		if c.Name == proxyContainer {
			k.Args = c.Args
			k.Env = literalMeta(c.Env)
		}
		kept = append(kept, k)
	}
	return kept
}

func literalMeta(env []corev1.EnvVar) []corev1.EnvVar {
	var kept []corev1.EnvVar
	for _, e := range env {
		if strings.HasPrefix(e.Name, metaEnv) && e.ValueFrom == nil {
			kept = append(kept, e)
		}
	}
	return kept
}

func readyCondition(all []corev1.PodCondition) []corev1.PodCondition {
	for _, c := range all {
		if c.Type == corev1.PodReady {
			return []corev1.PodCondition{{
				Type: c.Type, Status: c.Status, Reason: c.Reason, LastTransitionTime: c.LastTransitionTime,
			}}
		}
	}
	return nil
}

func samePod(before, after source.Object) bool {
	b, okB := before.(*corev1.Pod)
	a, okA := after.(*corev1.Pod)
	return okA && okB && equality.Semantic.DeepEqual(b.Status, a.Status) &&
		equality.Semantic.DeepEqual(b.Spec, a.Spec) && sameMeta(b.ObjectMeta, a.ObjectMeta)
}
