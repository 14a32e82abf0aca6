package demo

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/edsight/edsight/core/model"
)

const (
	proxyContainer = "istio-proxy"
	proxyImage     = "docker.io/istio/proxyv2:1.28.2"
)

// newPod returns a Pod of the workload as it is when its controller creates it.
func (w *workload) newPod(name string) *corev1.Pod {
	p := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: string(model.KindPod)},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace, Name: name, Labels: w.podLabels(),
			OwnerReferences: []metav1.OwnerReference{w.owner()},
			Annotations:     map[string]string{"sidecar.istio.io/status": `{"revision":"default"}`},
		},
		Spec: corev1.PodSpec{
			ServiceAccountName: w.account, RestartPolicy: corev1.RestartPolicyAlways,
			TerminationGracePeriodSeconds: new(int64(30)), Containers: w.containers(),
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending, QOSClass: corev1.PodQOSBurstable},
	}
	if name == "" {
		p.GenerateName = w.replicaSet() + "-"
	}
	if w.stateful {
		p.Spec.Hostname, p.Spec.Subdomain = name, w.app
	}
	return p
}

func (w *workload) podLabels() map[string]string {
	l := map[string]string{
		"app": w.app, "version": w.version, "pod-template-hash": w.hash,
		model.LabelCanonicalName: w.app, model.LabelCanonicalRevision: w.version,
	}
	if w.stateful {
		delete(l, "pod-template-hash")
		l["controller-revision-hash"] = w.app + "-" + w.hash
	}
	if w.gateway {
		l["istio"] = "ingressgateway"
	} else {
		l[model.LabelTLSMode] = "istio"
	}
	return l
}

// owner is the set of Pods that the Pod belongs to.
func (w *workload) owner() metav1.OwnerReference {
	o := metav1.OwnerReference{
		APIVersion: "apps/v1", Kind: "ReplicaSet", Name: w.replicaSet(), UID: types.UID(w.ownerUID),
		Controller: new(true), BlockOwnerDeletion: new(true),
	}
	if w.stateful {
		o.Kind, o.Name = "StatefulSet", w.app
	}
	return o
}

func (w *workload) containers() []corev1.Container {
	proxy := corev1.Container{
		Name: proxyContainer, Image: proxyImage, Args: []string{"proxy", "sidecar", "--domain", w.namespace + ".svc.cluster.local"},
		Ports: []corev1.ContainerPort{{Name: "http-envoy-prom", ContainerPort: 15090, Protocol: corev1.ProtocolTCP}},
	}
	ports := []corev1.ContainerPort{{Name: w.portName, ContainerPort: w.port, Protocol: corev1.ProtocolTCP}}
	if w.gateway {
		proxy.Args[1] = "router"
		proxy.Ports = append(ports, proxy.Ports...)
		return []corev1.Container{proxy}
	}
	return []corev1.Container{{Name: "app", Image: "registry.shop.example/" + w.app + ":" + w.version, Ports: ports}, proxy}
}

// bind gives the Pod its Node.
func bind(p *corev1.Pod, node string, at time.Time) {
	p.Spec.NodeName = node
	setCondition(p, corev1.PodScheduled, true, at)
}

// run starts the containers; they are not ready yet.
func run(p *corev1.Pod, ip, hostIP string, at time.Time) {
	p.Status.Phase = corev1.PodRunning
	p.Status.PodIP, p.Status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	p.Status.HostIP, p.Status.HostIPs = hostIP, []corev1.HostIP{{IP: hostIP}}
	started := metav1.NewTime(at)
	p.Status.StartTime = &started
	for _, c := range p.Spec.Containers {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Started: new(true),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}},
		})
	}
	setCondition(p, corev1.PodInitialized, true, at)
	setReady(p, false, at)
}

// setReady says whether the application answers its probe.
func setReady(p *corev1.Pod, ready bool, at time.Time) {
	for i := range p.Status.ContainerStatuses {
		if s := &p.Status.ContainerStatuses[i]; i == 0 || ready {
			s.Ready = ready
		}
	}
	setCondition(p, corev1.ContainersReady, ready, at)
	setCondition(p, corev1.PodReady, ready, at)
}

// crash ends the application, which waits to be started again.
func crash(p *corev1.Pod, at time.Time) {
	setReady(p, false, at)
	s := &p.Status.ContainerStatuses[0]
	s.RestartCount++
	s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	s.LastTerminationState = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: 1, Reason: "Error", FinishedAt: metav1.NewTime(at),
	}}
}

// restart runs the application again after a crash.
func restart(p *corev1.Pod, at time.Time) {
	p.Status.ContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(at)}}
	setReady(p, true, at)
}

func isReady(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func setCondition(p *corev1.Pod, kind corev1.PodConditionType, is bool, at time.Time) {
	status := corev1.ConditionFalse
	if is {
		status = corev1.ConditionTrue
	}
	next := corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: metav1.NewTime(at)}
	i := slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	switch {
	case i < 0:
		p.Status.Conditions = append(p.Status.Conditions, next)
	case p.Status.Conditions[i].Status != status:
		p.Status.Conditions[i] = next
	}
}
