package registry

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
)

// touch notes what the object concerns by the indexes as they are. Set calls it
// after they changed, and before if the object is not new.
func (w *World) touch(key model.ObjectKey, prev, next source.Object) {
	switch key.Kind {
	case model.KindService:
		w.rebuild(key.Namespace, key.Name)
	case model.KindEndpointSlice:
		w.touchSlice(key, prev, next)
	case model.KindPod:
		w.touchPod(key)
		w.touchSelectors(key, prev, next)
	case model.KindNode:
		w.touchNodePorts()
		for _, pod := range w.podsByNode.get(term{key.Cluster, "", key.Name}) {
			w.touchPod(pod)
			w.touchSelectors(pod, w.objects[pod])
		}
	case model.KindNamespace:
		w.touchNamespace(prev, next)
	case model.KindConfigMap:
		w.touchMesh(key)
	case model.KindServiceEntry:
		w.touchServiceEntry(key, prev, next)
	case model.KindWorkloadEntry, model.KindWorkloadGroup, model.KindSidecar, model.KindDestinationRule,
		model.KindVirtualService, model.KindGateway, model.KindAuthorizationPolicy, model.KindPeerAuthentication:
		w.touchConfig(key)
	case model.KindServiceExport, model.KindServiceImport:
		w.rebuild(key.Namespace, key.Name)
		w.touchConfig(key)
	case model.KindEndpoints:
		// Endpoints are not read: EndpointSlices are.
	}
	if key.Kind == model.KindWorkloadEntry {
		w.touchSelectors(key, prev, next)
	}
}

// touchConfig has the object compiled if it counts: only the config cluster
// configures the mesh, while workloads and exports are those of all clusters.
func (w *World) touchConfig(key model.ObjectKey) {
	switch key.Kind {
	case model.KindWorkloadEntry, model.KindWorkloadGroup, model.KindServiceExport, model.KindServiceImport:
		w.touched.configs[key] = struct{}{}
	case model.KindSidecar, model.KindDestinationRule, model.KindVirtualService, model.KindGateway,
		model.KindAuthorizationPolicy, model.KindPeerAuthentication, model.KindServiceEntry:
		if key.Cluster == w.config {
			w.touched.configs[key] = struct{}{}
		}
	case model.KindService, model.KindEndpointSlice, model.KindEndpoints, model.KindPod, model.KindNode,
		model.KindNamespace, model.KindConfigMap:
	}
}

func (w *World) touchSlice(key model.ObjectKey, objects ...source.Object) {
	w.touched.slices[key] = struct{}{}
	for _, o := range objects {
		if slice, ok := o.(*discoveryv1.EndpointSlice); ok && slice != nil {
			if name := slice.Labels[model.LabelServiceName]; name != "" {
				for _, host := range w.hostsOfName(key.Namespace, name) {
					w.touchService(host)
				}
			}
		}
	}
}

// rebuild has a Kubernetes Service compiled without reuse of chunks.
func (w *World) rebuild(namespace, name string) {
	for _, host := range w.hostsOfName(namespace, name) {
		w.touched.services[host] = true
	}
}

// touchService has the service compiled; chunks of untouched slices are reused.
func (w *World) touchService(key model.ServiceKey) {
	if _, ok := w.touched.services[key]; !ok {
		w.touched.services[key] = false
	}
}

func (w *World) touchPod(key model.ObjectKey) {
	w.stale[key] = true
	w.touched.pods[key] = struct{}{}
	for _, slice := range w.slicesByPod.get(term{key.Cluster, key.Namespace, key.Name}) {
		w.touchSlice(slice, w.objects[slice])
	}
	if pod, ok := w.objects[key].(*corev1.Pod); ok {
		for _, ip := range podIPs(pod) {
			for _, slice := range w.slicesByIP.get(term{key.Cluster, "", ip}) {
				w.touchSlice(slice, w.objects[slice])
			}
		}
	}
}

// touchNamespace has everything compiled again if a label changed: the label may
// be the network, or decide whether the namespace is discovered.
func (w *World) touchNamespace(prev, next source.Object) {
	var a, b map[string]string
	if prev != nil {
		a = prev.GetLabels()
	}
	if next != nil {
		b = next.GetLabels()
	}
	if !model.Labels(a).SubsetOf(b) || !model.Labels(b).SubsetOf(a) {
		w.touched.all = true
	}
}

func (w *World) touchMesh(key model.ObjectKey) {
	if key.Cluster == w.config && key.Namespace == w.rootNamespace && key.Name == "istio" {
		w.touched.mesh = true
	}
}
