package kube

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
)

// keptPod are the fields that stripPod uses, by their numbers in the messages of
// k8s.io/api/core/v1 and k8s.io/apimachinery/pkg/apis/meta/v1. Decoding the others
// would take twice as long as decoding these.
func keptPod() kept {
	container := kept{
		1:  nil, // name
		2:  nil, // image
		4:  nil, // args
		6:  nil, // ports
		7:  nil, // env
		24: nil, // restartPolicy
	}
	return kept{
		1: { // metadata
			1:  nil, // name
			2:  nil, // generateName
			3:  nil, // namespace
			5:  nil, // uid
			6:  nil, // resourceVersion
			8:  nil, // creationTimestamp
			9:  nil, // deletionTimestamp
			11: nil, // labels
			12: nil, // annotations
			13: nil, // ownerReferences
			17: { // managedFields
				1: nil, // manager
				4: nil, // time
			},
		},
		2: { // spec
			2:  container, // containers
			8:  nil,       // serviceAccountName
			10: nil,       // nodeName
			11: nil,       // hostNetwork
			16: nil,       // hostname
			17: nil,       // subdomain
			20: container, // initContainers
		},
		3: { // status
			1:  nil, // phase
			2:  nil, // conditions
			6:  nil, // podIP
			12: nil, // podIPs
		},
	}
}

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
// and of the proxy what it is and what it is started with.
func stripContainers(all []corev1.Container) []corev1.Container {
	if len(all) == 0 {
		return nil
	}
	kept := make([]corev1.Container, 0, len(all))
	for i := range all {
		c := &all[i]
		k := corev1.Container{Name: c.Name, Ports: c.Ports, RestartPolicy: c.RestartPolicy}
		if c.Name == model.ProxyContainer {
			k.Args = c.Args
			k.Image = c.Image
			k.Env = literalMeta(c.Env)
		}
		kept = append(kept, k)
	}
	return kept
}

func literalMeta(env []corev1.EnvVar) []corev1.EnvVar {
	var kept []corev1.EnvVar
	for _, e := range env {
		if strings.HasPrefix(e.Name, model.MetadataEnv) && e.ValueFrom == nil {
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
