package registry

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
)

// entryWorkload makes the workload of a WorkloadEntry's spec. A locality label
// counts if the spec names none. In remote clusters the network's label is that of
// the cluster's workloads, if the spec names none; its network stays unknown.
func (w *World) entryWorkload(cluster model.ClusterID, namespace string, e *networking.WorkloadEntry, labels map[string]string) *model.Workload {
	locality := e.GetLocality()
	if l := labels[model.LabelIstioLocality]; locality == "" && l != "" {
		locality = l
		if !strings.Contains(l, "/") {
			locality = strings.ReplaceAll(l, ".", "/")
		}
	}
	tls, labelled := labels[model.LabelTLSMode]
	switch {
	case labelled: // as it is written, even if it is empty
	case e.GetServiceAccount() != "":
		tls = "istio"
	default:
		tls = "disabled"
	}
	network := model.NetworkID(e.GetNetwork())
	out := &model.Workload{
		Labels:         topologyLabels(labels, cluster, locality, ""),
		ServiceAccount: w.spiffe(namespace, e.GetServiceAccount()), Network: network, Cluster: cluster,
		Locality: model.ParseLocality(locality), LocalityLabel: locality, TLSMode: tls,
		Draining: labels[model.LabelDraining] != "",
	}
	if network == "" && cluster != w.config {
		network = w.network(cluster, e.GetAddress(), labels)
	}
	if network != "" && out.Labels[model.LabelNetwork] == "" {
		out.Labels[model.LabelNetwork] = string(network)
	}
	return out
}

// workloadOfEntry makes the workload of a WorkloadEntry object, and the labels by
// which it is selected.
func (w *World) workloadOfEntry(key model.ObjectKey, e *networkingv1.WorkloadEntry) *model.Workload {
	out := w.entryWorkload(key.Cluster, e.Namespace, &e.Spec, EntryLabels(e))
	out.Object, out.Namespace, out.Name = key, e.Namespace, e.Name
	out.Captured = w.captured(e.Annotations)
	return out
}

// EntryLabels are the labels by which a WorkloadEntry is selected: those of the object laid
// over those of its spec.
func EntryLabels(e *networkingv1.WorkloadEntry) map[string]string {
	out := make(map[string]string, len(e.Labels)+len(e.Spec.GetLabels()))
	maps.Copy(out, e.Spec.GetLabels())
	maps.Copy(out, e.Labels)
	return out
}

// workloadNameOf is the name of what a WorkloadEntry stands for: of its group, or
// that of a label of the object, else its own.
func workloadNameOf(e *networkingv1.WorkloadEntry) string {
	if name, ok := e.Annotations[model.AnnotationGroup]; ok {
		return name
	}
	if name, ok := e.Labels[model.LabelWorkloadName]; ok {
		return name
	}
	return e.Name
}

// entryServes says why a WorkloadEntry is not selected although its labels match: its
// health is checked, and its first condition Healthy is not True.
func entryServes(e *networkingv1.WorkloadEntry) model.Reason {
	checked, err := strconv.ParseBool(e.Annotations[model.AnnotationHealthChecks])
	if err != nil || !checked {
		return model.ReasonNone
	}
	for _, c := range e.Status.GetConditions() {
		if c.GetType() == "Healthy" {
			if c.GetStatus() == "True" {
				return model.ReasonNone
			}
			break
		}
	}
	return model.ReasonWorkloadNotReady
}

// selectable is a workload that Services and ServiceEntries may select.
type selectable struct {
	key    model.ObjectKey
	entry  *networking.WorkloadEntry
	reason model.Reason
	make   func() *model.Workload
	health model.HealthStatus
	// workload is the name that a Kubernetes Service gives the workload of an entry.
	workload string
	// byEntriesOnly: a name or socket, which Kubernetes Services cannot select.
	byEntriesOnly bool
	version       string
}

// selectableEntries returns the WorkloadEntries of a namespace whose labels match,
// in order. An empty selector selects none.
func (w *World) selectableEntries(namespace string, selector model.Labels) []selectable {
	var out []selectable
	for _, key := range sortedKeys(w.byKind[kindIn{model.KindWorkloadEntry, namespace}], model.ObjectKey.Compare) {
		e, _ := w.objects[key].(*networkingv1.WorkloadEntry)
		if e == nil || w.features.NoEntriesInServices && key.Cluster != w.config || !w.selects(selector, key, EntryLabels(e)) {
			continue // not read, or not selected
		}
		address := e.Spec.GetAddress()
		_, err := netip.ParseAddr(address)
		out = append(out, selectable{
			key: key, entry: &e.Spec, reason: entryServes(e), version: e.ResourceVersion, workload: workloadNameOf(e),
			make:          func() *model.Workload { return w.workloadOfEntry(key, e) },
			byEntriesOnly: address != "" && err != nil,
		})
	}
	return out
}

// selectablePods returns the Pods likewise.
func (w *World) selectablePods(namespace string, selector model.Labels) []selectable {
	if w.features.NoPodsInEntries {
		return nil
	}
	var out []selectable
	for _, key := range sortedKeys(w.byKind[kindIn{model.KindPod, namespace}], model.ObjectKey.Compare) {
		pod := podOf(w.objects[key])
		if pod == nil || !w.selects(selector, key, pod.Labels) {
			continue // not selected
		}
		out = append(out, selectable{
			key: key, entry: &networking.WorkloadEntry{Address: pod.Status.PodIP, Ports: containerPorts(pod, corev1.ProtocolTCP)},
			reason: podServes(pod), version: pod.ResourceVersion, health: model.Healthy,
			make: func() *model.Workload { return w.workload(key, pod) },
		})
	}
	return out
}

func (w *World) selects(selector model.Labels, key model.ObjectKey, labels model.Labels) bool {
	return len(selector) > 0 && selector.SubsetOf(labels) && w.discovered(key.Cluster, key.Namespace)
}

// selectedChunks makes the candidates of the workloads that a ServiceEntry
// selects, a chunk per workload.
func (w *World) selectedChunks(e *networkingv1.ServiceEntry, defs []*model.Service) []*state.Chunk {
	var out []*state.Chunk
	dns := e.Spec.GetResolution() == networking.ServiceEntry_DNS || e.Spec.GetResolution() == networking.ServiceEntry_DNS_ROUND_ROBIN
	selector := model.Labels(e.Spec.GetWorkloadSelector().GetLabels())
	for _, s := range slices.Concat(w.selectableEntries(e.Namespace, selector), w.selectablePods(e.Namespace, selector)) {
		chunk := &state.Chunk{Source: s.key, ResourceVersion: s.version}
		if s.byEntriesOnly && !dns {
			s.reason = model.ReasonNoAddress
		}
		var workload *model.Workload
		if s.reason == model.ReasonNone {
			workload = s.make()
		}
		for range defs {
			for _, p := range e.Spec.GetPorts() {
				c := entryCandidate(chunk, &chunk.Source, s.entry, workload, p)
				if s.reason != model.ReasonNone {
					c.Reason, c.Endpoint = s.reason, nil
				} else if c.Endpoint != nil {
					c.Endpoint.Health = s.health
					c.Endpoint.Addresses = w.podAddresses(s.key, c.Endpoint.Addresses)
					c.Endpoint.SendUnhealthy = w.features.SendUnhealthy && s.key.Kind == model.KindPod
				}
				chunk.Candidates = append(chunk.Candidates, c)
			}
		}
		out = append(out, chunk)
	}
	return out
}

// selectedEntries makes the candidates of the WorkloadEntries that a Kubernetes
// Service selects, which are those of its cluster. A headless one selects none.
func (w *World) selectedEntries(cluster model.ClusterID, namespace string, def *model.Service) []*state.Chunk {
	if def == nil || def.Resolution != model.ClientSideLB || w.features.NoEntriesInServices {
		return nil
	}
	var out []*state.Chunk
	for _, s := range w.selectableEntries(namespace, def.Selector) {
		if s.key.Cluster != cluster {
			continue // another cluster's
		}
		chunk := &state.Chunk{Source: s.key, ResourceVersion: s.version}
		var workload *model.Workload
		if s.byEntriesOnly && s.reason == model.ReasonNone {
			s.reason = model.ReasonNoAddress
		}
		if s.reason == model.ReasonNone {
			// For ServiceEntries it keeps the name of the object.
			workload = s.make()
			workload.Name = s.workload
		}
		for _, p := range def.Ports {
			c := &model.Candidate{Source: &chunk.Source, Target: &chunk.Source, Address: s.entry.GetAddress(), PortName: p.Name, Reason: s.reason}
			var ok bool
			if c.Port, ok = targetPort(p, s.entry.GetPorts()); !ok && c.Reason == model.ReasonNone {
				c.Reason = model.ReasonPortNameMismatch
			}
			if c.Reason == model.ReasonNone {
				c.Endpoint = &model.Endpoint{
					Workload: workload, Addresses: []string{c.Address}, PortName: p.Name, Port: c.Port, Weight: s.entry.GetWeight(),
				}
			}
			chunk.Candidates = append(chunk.Candidates, c)
		}
		out = append(out, chunk)
	}
	return out
}

// targetPort of a Kubernetes Service's port on a WorkloadEntry: its own port of
// that name counts before the number; a named target port must be there. An absent
// target port is the Service's port, as Kubernetes would write it.
func targetPort(p model.Port, ports map[string]uint32) (uint32, bool) {
	if p.TargetPortName != "" {
		n, ok := ports[p.TargetPortName]
		return n, ok && n > 0
	}
	return cmp.Or(ports[p.Name], p.TargetPort, p.Number), true
}

// touchSelectors has everything compiled that selects a workload with the labels
// that the object had or has.
func (w *World) touchSelectors(key model.ObjectKey, objects ...source.Object) {
	for _, o := range objects {
		labels, ok := selectableLabels(o)
		if !ok {
			continue // not there before, or gone now
		}
		for entry := range w.selecting {
			e, _ := w.objects[entry].(*networkingv1.ServiceEntry)
			if e != nil && entry.Namespace == key.Namespace && model.Labels(e.Spec.GetWorkloadSelector().GetLabels()).SubsetOf(labels) {
				w.touchServiceEntry(entry, e)
			}
		}
		if key.Kind != model.KindWorkloadEntry {
			continue // a Service's Pods come by its slices
		}
		for service := range w.byKind[kindIn{model.KindService, key.Namespace}] {
			s, _ := w.objects[service].(*corev1.Service)
			if s != nil && len(s.Spec.Selector) > 0 && model.Labels(s.Spec.Selector).SubsetOf(labels) {
				for _, host := range w.hostsOfName(service.Namespace, service.Name) {
					w.touchService(host)
				}
			}
		}
	}
}

func selectableLabels(o source.Object) (model.Labels, bool) {
	switch v := o.(type) {
	case *corev1.Pod:
		if v != nil {
			return v.Labels, true
		}
	case *networkingv1.WorkloadEntry:
		if v != nil {
			return EntryLabels(v), true
		}
	}
	return nil, false
}
