package registry

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/edsight/edsight/core/model"
)

// proxyContainer is the name that injection gives to the proxy's container.
const proxyContainer = "istio-proxy"

// ProxyID is "<pod>.<namespace>".
func ProxyID(pod model.ObjectKey) string { return pod.Name + "." + pod.Namespace }

// hasProxy tells whether the Pod runs a proxy.
func hasProxy(pod *corev1.Pod) bool {
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			if list[i].Name == proxyContainer {
				return true
			}
		}
	}
	return pod.Annotations["sidecar.istio.io/status"] != ""
}

// Proxy models the proxy of a Pod, as its node metadata would describe it; nil
// if there is no such Pod.
func (w *World) Proxy(key model.ObjectKey) *model.Proxy {
	pod := podOf(w.objects[key])
	if pod == nil {
		return nil
	}
	locality := w.podLocality(key.Cluster, pod)
	p := &model.Proxy{
		ID: ProxyID(key), Type: proxyType(pod), Pod: key, Namespace: pod.Namespace, Cluster: key.Cluster,
		Network: w.proxyNetwork(key.Cluster, pod), Node: pod.Spec.NodeName, Locality: model.ParseLocality(locality),
		Labels: pod.Labels, IPs: podIPs(pod), ServiceAccount: pod.Spec.ServiceAccountName, Version: proxyVersion(pod),
	}
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == proxyContainer {
			environment(p, pod.Spec.Containers[i].Env)
		}
	}
	return p
}

// environment reads the settings that a proxy gets by its environment.
func environment(p *model.Proxy, env []corev1.EnvVar) {
	for _, e := range env {
		switch e.Name {
		case "ISTIO_META_NETWORK":
			p.Network = model.NetworkID(first(e.Value, string(p.Network)))
		case "ISTIO_META_REQUESTED_NETWORK_VIEW":
			for n := range strings.SplitSeq(e.Value, ",") {
				p.NetworkView = append(p.NetworkView, model.NetworkID(n))
			}
		case "ISTIO_META_ROUTER_MODE":
			p.RouterMode = e.Value
		}
	}
}

func proxyType(pod *corev1.Pod) model.ProxyType {
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		if c.Name == proxyContainer && len(c.Args) > 1 && c.Args[0] == "proxy" && c.Args[1] == "router" {
			return model.Router
		}
	}
	return model.Sidecar
}

// proxyVersion is the tag of the proxy's image.
func proxyVersion(pod *corev1.Pod) string {
	for i := range pod.Spec.Containers {
		if c := &pod.Spec.Containers[i]; c.Name == proxyContainer {
			if colon := strings.LastIndexByte(c.Image, ':'); colon > strings.LastIndexByte(c.Image, '/') {
				return c.Image[colon+1:]
			}
		}
	}
	return ""
}

// proxyNetwork is what injection writes: the Pod's label, else the label of the
// root namespace of its cluster.
func (w *World) proxyNetwork(cluster model.ClusterID, pod *corev1.Pod) model.NetworkID {
	if n := pod.Labels[model.LabelNetwork]; n != "" {
		return model.NetworkID(n)
	}
	root := w.objects[model.ObjectKey{Cluster: cluster, Kind: model.KindNamespace, Name: w.rootNamespace}]
	if root == nil {
		return ""
	}
	return model.NetworkID(root.GetLabels()[model.LabelNetwork])
}
