package registry

import (
	"cmp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// ProxyID is "<pod>.<namespace>".
func ProxyID(pod model.ObjectKey) string { return pod.Name + "." + pod.Namespace }

// HasProxy tells whether the Pod runs a proxy of a type that is modelled.
func HasProxy(pod *corev1.Pod) bool {
	if c := proxyContainer(pod); c != nil {
		return proxyType(c) != ""
	}
	return pod.Annotations["sidecar.istio.io/status"] != ""
}

// proxyContainer is the container that runs the proxy, nil if there is none.
func proxyContainer(pod *corev1.Pod) *corev1.Container {
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			if list[i].Name == model.ProxyContainer {
				return &list[i]
			}
		}
	}
	return nil
}

// proxyType is the type that the container's arguments start, "" for one that is not
// modelled.
func proxyType(c *corev1.Container) model.ProxyType {
	if len(c.Args) > 1 && c.Args[0] == "proxy" {
		switch c.Args[1] {
		case "router":
			return model.Router
		case "waypoint", "ztunnel":
			return ""
		}
	}
	return model.Sidecar
}

// proxyVersion is the tag of the proxy's image.
func proxyVersion(c *corev1.Container) string {
	if colon := strings.LastIndexByte(c.Image, ':'); colon > strings.LastIndexByte(c.Image, '/') {
		return c.Image[colon+1:]
	}
	return ""
}

// proxy models the proxy of a Pod, as its node metadata would describe it.
func (w *World) proxy(key model.ObjectKey, pod *corev1.Pod) *model.Proxy {
	locality := ""
	if w.discovered(key.Cluster, key.Namespace) {
		locality = w.podLocality(key.Cluster, pod)
	}
	p := &model.Proxy{
		ID: ProxyID(key), Type: model.Sidecar, Pod: key, Namespace: pod.Namespace, Cluster: key.Cluster,
		Network: w.proxyNetwork(key.Cluster, pod), WorkloadNetwork: w.network(key.Cluster, pod.Status.PodIP, pod.Labels), Node: pod.Spec.NodeName, Locality: model.ParseLocality(locality),
		Labels: pod.Labels, IPs: podIPs(pod), ServiceAccount: pod.Spec.ServiceAccountName, ContainerPorts: containerPorts(pod, ""),
	}
	if c := proxyContainer(pod); c != nil {
		p.Type, p.Version = proxyType(c), proxyVersion(c)
		environment(p, c.Env)
	}
	return p
}

// environment reads the settings that a proxy gets by its environment.
func environment(p *model.Proxy, env []corev1.EnvVar) {
	for _, e := range env {
		if name, ok := strings.CutPrefix(e.Name, model.MetadataEnv); ok && e.Value != "" {
			setting(p, name, e.Value)
		}
	}
}

// setting takes one entry of the node metadata over.
func setting(p *model.Proxy, name, value string) {
	switch name {
	case "NETWORK":
		p.Network = model.NetworkID(value)
	case "REQUESTED_NETWORK_VIEW":
		p.NetworkView = nil
		for n := range strings.SplitSeq(value, ",") {
			p.NetworkView = append(p.NetworkView, model.NetworkID(n))
		}
	case "DISABLE_HBONE_SEND":
		on, err := strconv.ParseBool(value)
		p.NoHBONE = on && err == nil
	case "GENERATOR":
		p.GRPC = value == "grpc"
	}
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

// containerPorts are the named ports of all containers, of one protocol unless it
// is ""; of several with one name the first counts.
func containerPorts(pod *corev1.Pod, protocol corev1.Protocol) map[string]uint32 {
	var out map[string]uint32
	for i := range pod.Spec.Containers {
		for _, p := range pod.Spec.Containers[i].Ports {
			if p.Name == "" || p.ContainerPort <= 0 || protocol != "" && cmp.Or(p.Protocol, corev1.ProtocolTCP) != protocol {
				continue // cannot be asked for by name
			}
			if out == nil {
				out = map[string]uint32{}
			}
			if _, ok := out[p.Name]; !ok {
				out[p.Name] = uint32(p.ContainerPort)
			}
		}
	}
	return out
}

// Pinned is a proxy that is known by more than its Pod, and that stays when the
// Pod goes.
type Pinned struct {
	Pod model.ObjectKey
	// Type overrides the Pod's, if it is not "".
	Type model.ProxyType
	// Metadata of the node, by Istio's names without prefix, overrides the Pod's:
	// NETWORK, REQUESTED_NETWORK_VIEW, DISABLE_HBONE_SEND, GENERATOR.
	Metadata map[string]string
	// Proxy is what the node says of itself; it counts while there is no Pod. Nil
	// if that is not known.
	Proxy *model.Proxy
}

// Pin makes the proxy of a Pod known, whether the Pod shows signs of it or not.
func (w *World) Pin(p Pinned) {
	id := ProxyID(p.Pod)
	if w.pinned[id] == nil {
		w.pinned[id] = map[model.ClusterID]Pinned{}
	}
	w.pinned[id][p.Pod.Cluster] = p
	w.touched.pods[p.Pod] = struct{}{}
}

// Unpin takes Pin back.
func (w *World) Unpin(pod model.ObjectKey) {
	id := ProxyID(pod)
	if delete(w.pinned[id], pod.Cluster); len(w.pinned[id]) == 0 {
		delete(w.pinned, id)
	}
	w.touched.pods[pod] = struct{}{}
}

func (p Pinned) apply(to *model.Proxy) {
	if p.Type != "" {
		to.Type = p.Type
	}
	for name, value := range p.Metadata {
		setting(to, name, value)
	}
}

// servers are the proxies of the workloads among the endpoints that changed. The
// ports of a Kubernetes Service with a selector follow from the Pod alone, unless
// a target port is a name that no container has.
func (w *World) servers(c *state.ServiceChange) []string {
	if len(c.Endpoints) == 0 || !portsFromEndpoints(c.Prev) && !portsFromEndpoints(c.Next) {
		return nil
	}
	ids := map[string]struct{}{}
	for _, e := range c.Endpoints {
		for _, one := range []*model.Candidate{e.Before, e.After} {
			if one == nil {
				continue // came or went
			}
			if one.Target != nil && one.Target.Kind == model.KindPod {
				ids[ProxyID(*one.Target)] = struct{}{}
			}
			for _, cluster := range w.clusters() {
				if e.Shard.Provider == model.ProviderKubernetes && cluster != e.Shard.Cluster {
					continue // the address means another workload there
				}
				for _, pod := range w.podsByIP.get(term{cluster, "", one.Address}) {
					ids[ProxyID(pod)] = struct{}{}
				}
			}
		}
	}
	return sortedKeys(ids, compareStrings)
}

func portsFromEndpoints(s *state.ServiceState) bool {
	if s == nil {
		return false
	}
	for _, d := range s.Definitions {
		if len(d.Selector) == 0 || d.Provider == model.ProviderExternal {
			return true
		}
		for _, p := range d.Ports {
			if p.TargetPortName != "" {
				return true
			}
		}
	}
	return false
}
