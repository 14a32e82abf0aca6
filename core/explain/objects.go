package explain

import (
	"slices"

	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
)

// object reads one object of the source; nil if it is not there or may not be
// seen.
func (x *inquiry) object(key model.ObjectKey) source.Object {
	if x.opts.Objects == nil || !x.mayName(key) {
		return nil
	}
	return x.opts.Objects.Get(key)
}

func (x *inquiry) pod(key *model.ObjectKey) *corev1.Pod {
	if key == nil || key.Kind != model.KindPod {
		return nil
	}
	pod, _ := x.object(*key).(*corev1.Pod)
	return pod
}

func (x *inquiry) slice(key *model.ObjectKey) *discoveryv1.EndpointSlice {
	if key == nil || key.Kind != model.KindEndpointSlice {
		return nil
	}
	s, _ := x.object(*key).(*discoveryv1.EndpointSlice)
	return s
}

// config reads an Istio object of the snapshot.
func config[O any](x *inquiry, key *model.ObjectKey) (o O) {
	if key != nil {
		if c, ok := x.snap.Config(*key); ok && x.mayName(*key) {
			o, _ = c.Object.(O)
		}
	}
	return o
}

// offer is a candidate and the service that it is for.
type offer struct {
	candidate *model.Candidate
	service   model.ServiceKey
}

// podsWith are the Pods that have the address.
func (x *inquiry) podsWith() []model.ObjectKey { return x.with(model.KindPod) }

// endpointsWith are the legacy Endpoints that list the address.
func (x *inquiry) endpointsWith() []model.ObjectKey { return x.with(model.KindEndpoints) }

func (x *inquiry) with(kind model.Kind) []model.ObjectKey {
	if x.q.Address == "" {
		return nil
	}
	keys := x.objects.with(x.opts, kind, model.PlainAddress(x.q.Address))
	return slices.DeleteFunc(keys, func(k model.ObjectKey) bool { return !x.allowed(k.Namespace) })
}

// entriesWith are the WorkloadEntries that have the address.
func (x *inquiry) entriesWith() []model.ObjectKey {
	var out []model.ObjectKey
	if x.q.Address == "" {
		return out
	}
	for c := range x.snap.Configs(model.KindWorkloadEntry) {
		e, ok := c.Object.(*networkingv1.WorkloadEntry)
		if ok && model.SameAddress(e.Spec.GetAddress(), x.q.Address) && x.allowed(c.Key.Namespace) {
			out = append(out, c.Key)
		}
	}
	return out
}

// slicesWith are the slices that list the address, each once: what they offer for no
// service, then what for one.
func (x *inquiry) slicesWith() []offer {
	if x.offering == nil {
		x.offering = x.findSlices()
	}
	return x.offering
}

func (x *inquiry) findSlices() []offer {
	out := []offer{}
	if x.q.Address == "" {
		return out
	}
	seen := map[model.ObjectKey]bool{}
	add := func(c *model.Candidate, service model.ServiceKey) {
		if c.Source.Kind == model.KindEndpointSlice && !seen[*c.Source] && x.asked(c) && x.allowed(c.Source.Namespace) {
			seen[*c.Source] = true
			out = append(out, offer{c, service})
		}
	}
	for chunk := range x.snap.Strays() {
		for _, c := range chunk.Candidates {
			add(c, model.ServiceKey{})
		}
	}
	for svc := range x.snap.Services() {
		for _, c := range svc.Candidates() {
			add(c, svc.Key)
		}
	}
	return out
}

// hasIP tells whether one of the Pod's addresses is the given one.
func hasIP(pod *corev1.Pod, address string) bool {
	for i := range pod.Status.PodIPs {
		if model.SameAddress(pod.Status.PodIPs[i].IP, address) {
			return true
		}
	}
	return pod.Status.PodIP != "" && model.SameAddress(pod.Status.PodIP, address)
}

func podIPs(pod *corev1.Pod) []string {
	out := make([]string, 0, 2)
	for _, ip := range pod.Status.PodIPs {
		out = append(out, ip.IP)
	}
	if len(out) == 0 && pod.Status.PodIP != "" {
		out = append(out, pod.Status.PodIP)
	}
	return out
}

// selects tells whether the definition in use selects workloads of a kind with the labels.
func (x *inquiry) selects(kind model.Kind, namespace string, labels model.Labels) bool {
	if x.imp == nil || len(x.imp.Definition.Selector) == 0 || x.switchedOff(kind) != "" {
		return false
	}
	d := x.imp.Definition
	return namespace == d.Key.Namespace && d.Selector.SubsetOf(labels)
}

// switchedOff is the setting by which the definition in use selects no workloads of a
// kind, "" if there is none.
func (x *inquiry) switchedOff(kind model.Kind) string {
	features := x.snap.Mesh.Features
	switch {
	case kind == model.KindWorkloadEntry && features.NoEntriesInServices && x.imp.Definition.Provider == model.ProviderKubernetes:
		return "PILOT_ENABLE_K8S_SELECT_WORKLOAD_ENTRIES"
	case kind == model.KindPod && features.NoPodsInEntries && x.imp.Definition.Provider == model.ProviderExternal:
		return "PILOT_ENABLE_SERVICEENTRY_SELECT_PODS"
	}
	return ""
}

// podReady tells whether the Pod's condition Ready is true, with the condition's
// text.
func podReady(pod *corev1.Pod) (ready bool, text string) {
	for _, c := range pod.Status.Conditions {
		if c.Type != corev1.PodReady {
			continue
		}
		text = "Ready=" + string(c.Status)
		if c.Reason != "" {
			text += " (" + c.Reason + ")"
		}
		return c.Status == corev1.ConditionTrue, text
	}
	return false, "no condition Ready"
}

// phaseText is the Pod's phase with its reason.
func phaseText(pod *corev1.Pod) string {
	text := string(pod.Status.Phase)
	if pod.Status.Reason != "" {
		text += " (" + pod.Status.Reason + ")"
	}
	return text
}

// conditions are what the slice says of the candidate's endpoint.
func (x *inquiry) conditions(c *model.Candidate) string {
	s := x.slice(c.Source)
	if s == nil {
		return ""
	}
	for i := range s.Endpoints {
		if slices.Contains(s.Endpoints[i].Addresses, c.Address) {
			e := s.Endpoints[i].Conditions
			return "ready=" + boolText(e.Ready) + ", serving=" + boolText(e.Serving) + ", terminating=" + boolText(e.Terminating)
		}
	}
	return ""
}

func boolText(b *bool) string {
	switch {
	case b == nil:
		return "unset"
	case *b:
		return "true"
	}
	return "false"
}
