package registry

import (
	"maps"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
)

// workload returns the Pod as a workload. The same value is returned as long as
// nothing differs, so that pointers can be compared.
func (w *World) workload(key model.ObjectKey, pod *corev1.Pod) *model.Workload {
	have := w.workloads[key]
	if have != nil && !w.stale[key] {
		return have
	}
	next := w.makeWorkload(key, pod)
	delete(w.stale, key)
	if have != nil && have.Equal(next) {
		return have
	}
	w.workloads[key] = next
	return next
}

func (w *World) makeWorkload(key model.ObjectKey, pod *corev1.Pod) *model.Workload {
	locality := w.podLocality(key.Cluster, pod)
	network := w.network(key.Cluster, pod.Status.PodIP, pod.Labels)
	out := &model.Workload{
		Object:    key,
		Labels:    topologyLabels(pod.Labels, key.Cluster, locality, pod.Spec.NodeName),
		Namespace: pod.Namespace, Name: workloadName(pod),
		ServiceAccount: w.spiffe(pod.Namespace, pod.Spec.ServiceAccountName),
		Network:        network, Cluster: key.Cluster, Node: pod.Spec.NodeName,
		Locality: model.ParseLocality(locality), LocalityLabel: locality,
		TLSMode: tlsMode(pod.Labels), SubDomain: pod.Spec.Subdomain,
		Draining: pod.Labels[model.LabelDraining] != "", Captured: w.captured(pod.Annotations),
	}
	out.Labels[model.LabelNetwork] = string(network)
	if out.SubDomain != "" {
		out.HostName = pod.Spec.Hostname
		if out.HostName == "" {
			out.HostName = pod.Name
		}
	}
	return out
}

// captured tells whether the ambient mesh redirects a workload's traffic.
func (w *World) captured(annotations map[string]string) bool {
	return w.features.Ambient && annotations[model.AnnotationRedirection] == "enabled"
}

// bareWorkload is what stands behind an address that no Pod has.
func (w *World) bareWorkload(cluster model.ClusterID, address string) *model.Workload {
	network := w.network(cluster, address, nil)
	labels := topologyLabels(nil, cluster, "", "")
	labels[model.LabelNetwork] = string(network)
	return &model.Workload{Labels: labels, Network: network, Cluster: cluster, TLSMode: "disabled"}
}

// podLocality is that of the label istio-locality, else that of the Node.
func (w *World) podLocality(cluster model.ClusterID, pod *corev1.Pod) string {
	if l := pod.Labels[model.LabelIstioLocality]; l != "" {
		if strings.Contains(l, "/") {
			return l
		}
		return strings.ReplaceAll(l, ".", "/")
	}
	node, ok := w.objects[model.ObjectKey{Cluster: cluster, Kind: model.KindNode, Name: pod.Spec.NodeName}]
	if !ok {
		return ""
	}
	l := node.GetLabels()
	region := first(l[model.LabelRegion], l["failure-domain.beta.kubernetes.io/region"])
	zone := first(l[model.LabelZone], l["failure-domain.beta.kubernetes.io/zone"])
	subzone := l[model.LabelSubzone]
	if region == "" && zone == "" && subzone == "" {
		return ""
	}
	return region + "/" + zone + "/" + subzone
}

// topologyLabels returns the labels with cluster, node and locality added.
func topologyLabels(labels map[string]string, cluster model.ClusterID, locality, node string) model.Labels {
	out := make(model.Labels, len(labels)+6)
	maps.Copy(out, labels)
	l := model.ParseLocality(locality)
	for _, label := range [...]struct{ name, value string }{
		{model.LabelRegion, l.Region},
		{model.LabelZone, l.Zone},
		{model.LabelSubzone, l.Subzone},
		{model.LabelCluster, string(cluster)},
		{model.LabelHostname, node},
	} {
		if label.value != "" {
			out[label.name] = label.value
		}
	}
	return out
}

// tlsMode is that of the label as it is written, even if it is empty.
func tlsMode(labels map[string]string) string {
	if mode, ok := labels[model.LabelTLSMode]; ok {
		return mode
	}
	return "disabled"
}

// spiffe is the identity of a service account, "" without one.
func (w *World) spiffe(namespace, account string) string {
	if namespace == "" || account == "" {
		return ""
	}
	return "spiffe://" + w.mesh.Config.GetTrustDomain() + "/ns/" + namespace + "/sa/" + account
}

// workloadName is the name of the controller that made the Pod, for a generated
// Pod: of the Deployment rather than its ReplicaSet, of the CronJob rather than
// its Job.
func workloadName(pod *corev1.Pod) string {
	if n, ok := pod.Labels[model.LabelWorkloadName]; ok {
		return n
	}
	if pod.GenerateName == "" {
		return pod.Name
	}
	for _, ref := range pod.OwnerReferences {
		if ref.Controller == nil || !*ref.Controller {
			continue
		}
		if name, ok := deploymentName(pod, ref.Kind, ref.Name); ok {
			return name
		}
		return ref.Name
	}
	return pod.Name
}

func deploymentName(pod *corev1.Pod, kind, name string) (string, bool) {
	switch kind {
	case "ReplicaSet":
		for _, label := range []string{"pod-template-hash", "rollouts-pod-template-hash"} {
			if hash := pod.Labels[label]; hash != "" && strings.HasSuffix(name, hash) {
				return strings.TrimSuffix(name, "-"+hash), true
			}
		}
	case "ReplicationController":
		if config := pod.Labels["deploymentconfig"]; config != "" {
			return config, true
		}
	case "Job":
		if m := regexp.MustCompile(`^(.+)-\d{8,10}$`).FindStringSubmatch(name); m != nil {
			return m[1], true
		}
	}
	return "", false
}

func podIPs(pod *corev1.Pod) []string {
	var out []string
	for _, ip := range pod.Status.PodIPs {
		if ip.IP != "" {
			out = append(out, ip.IP)
		}
	}
	if len(out) == 0 && pod.Status.PodIP != "" {
		out = append(out, pod.Status.PodIP)
	}
	return out
}

// Finished tells whether the Pod has ended, and does not start again.
func Finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// podServes says why a Pod is not found by its IP, nor selected by a
// ServiceEntry; ReasonNone if it is.
func podServes(pod *corev1.Pod) model.Reason {
	switch {
	case Finished(pod):
		return model.ReasonPodFinished
	case pod.Status.PodIP == "":
		return model.ReasonPodWithoutIP
	case pod.DeletionTimestamp != nil:
		return model.ReasonTerminating
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return model.ReasonNone
		}
	}
	return model.ReasonWorkloadNotReady
}

// podByIP finds the Pod that serves at the address in the namespace, among several
// the first by name. As in Istio, only a Pod's first address counts.
func (w *World) podByIP(cluster model.ClusterID, namespace, ip string) (model.ObjectKey, *corev1.Pod) {
	for _, key := range w.podsByIP.get(term{cluster, "", ip}) {
		pod, _ := w.objects[key].(*corev1.Pod)
		if pod != nil && key.Namespace == namespace && pod.Status.PodIP == ip && podServes(pod) == model.ReasonNone {
			return key, pod
		}
	}
	return model.ObjectKey{}, nil
}

func podOf(o source.Object) *corev1.Pod {
	pod, _ := o.(*corev1.Pod)
	return pod
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
