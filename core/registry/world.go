package registry

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
)

// World holds the current objects and what was touched since the last Compile.
type World struct {
	config        model.ClusterID
	rootNamespace string
	mesh          *state.Mesh
	objects       map[model.ObjectKey]source.Object
	byKind        map[kindIn]map[model.ObjectKey]struct{}

	slicesByService index // cluster, namespace, service name
	slicesByPod     index // cluster, namespace, pod name: by targetRef
	slicesByIP      index // cluster, namespace, address: without a Pod as target
	podsByIP        index // cluster, "", address
	podsByNode      index // cluster, "", node
	hosts           index // "", namespace, hostname: ServiceEntries

	// workloads are made from Pods on demand, and forgotten when one of the
	// objects that they are made from changes.
	workloads map[model.ObjectKey]*model.Workload
	stale     map[model.ObjectKey]bool

	selectors       []labels.Selector                     // of the mesh: which namespaces are discovered
	selecting       map[model.ObjectKey]struct{}          // ServiceEntries with a workloadSelector
	nodePorts       map[model.ObjectKey]struct{}          // Services whose addresses are those of nodes
	allocations     map[hostOfEntry][2]string             // IPv4 and IPv6
	gatewayServices map[model.ObjectKey]struct{}          // Services with the label of a network
	pinned          map[string]map[model.ClusterID]Pinned // by ID of the proxy
	resolved        map[string][]string                   // addresses of gateways that are names
	features        Features
	clusterIDs      map[model.ClusterID]int // number of objects

	touched touched
}

// kindIn is a kind in a namespace (of any cluster).
type kindIn struct {
	kind      model.Kind
	namespace string
}

// touched says what has to be compiled again.
type touched struct {
	all      bool
	services map[model.ServiceKey]bool // true: without reuse of chunks
	slices   map[model.ObjectKey]struct{}
	pods     map[model.ObjectKey]struct{} // for their proxies
	configs  map[model.ObjectKey]struct{}
	mesh     bool
	gateways bool
	entries  bool // ServiceEntries: addresses may have to be allocated
}

// NewWorld returns an empty World. Config is the cluster whose Istio objects and
// mesh configuration count.
func NewWorld(config model.ClusterID, rootNamespace string, features Features) *World {
	w := &World{
		config: config, rootNamespace: rootNamespace, features: features,
		mesh:            meshOf(nil, rootNamespace, nil),
		objects:         map[model.ObjectKey]source.Object{},
		byKind:          map[kindIn]map[model.ObjectKey]struct{}{},
		slicesByService: newIndex(), slicesByPod: newIndex(), slicesByIP: newIndex(),
		podsByIP: newIndex(), podsByNode: newIndex(), hosts: newIndex(),
		workloads: map[model.ObjectKey]*model.Workload{}, stale: map[model.ObjectKey]bool{},
		selecting: map[model.ObjectKey]struct{}{}, nodePorts: map[model.ObjectKey]struct{}{}, gatewayServices: map[model.ObjectKey]struct{}{}, pinned: map[string]map[model.ClusterID]Pinned{}, resolved: map[string][]string{}, clusterIDs: map[model.ClusterID]int{},
	}
	w.mesh.Features = features
	w.touched = newTouched()
	w.touched.mesh = true
	return w
}

func newTouched() touched {
	return touched{
		services: map[model.ServiceKey]bool{}, slices: map[model.ObjectKey]struct{}{},
		pods: map[model.ObjectKey]struct{}{}, configs: map[model.ObjectKey]struct{}{},
	}
}

// Set replaces an object, nil removes it, and notes what that touches: all that
// concerned the object before, and all that it concerns now. To set what is set
// already does nothing.
func (w *World) Set(key model.ObjectKey, o source.Object) {
	prev := w.objects[key]
	if prev == o {
		return
	}
	if prev != nil { // else all that it concerns, it concerns now
		w.touch(key, prev, o)
	}
	kind := kindIn{key.Kind, key.Namespace}
	if o == nil {
		delete(w.objects, key)
		if delete(w.byKind[kind], key); len(w.byKind[kind]) == 0 {
			delete(w.byKind, kind)
		}
		w.count(key.Cluster, -1)
	} else {
		if prev == nil {
			w.count(key.Cluster, 1)
		}
		w.objects[key] = o
		if w.byKind[kind] == nil {
			w.byKind[kind] = map[model.ObjectKey]struct{}{}
		}
		w.byKind[kind][key] = struct{}{}
	}
	w.reindex(key, o)
	w.touch(key, prev, o)
	if o == nil {
		delete(w.workloads, key)
		delete(w.stale, key)
	}
}

// reindex replaces the terms under which the object is found.
func (w *World) reindex(key model.ObjectKey, o source.Object) {
	switch key.Kind {
	case model.KindEndpointSlice:
		slice, _ := o.(*discoveryv1.EndpointSlice)
		w.indexSlice(key, slice)
	case model.KindPod:
		pod, _ := o.(*corev1.Pod)
		w.indexPod(key, pod)
	case model.KindServiceEntry:
		w.indexServiceEntry(key, o)
		w.touched.entries = true
	case model.KindService:
		w.indexService(key, o)
	case model.KindEndpoints, model.KindNode, model.KindNamespace, model.KindConfigMap,
		model.KindWorkloadEntry, model.KindWorkloadGroup, model.KindSidecar, model.KindDestinationRule, model.KindVirtualService,
		model.KindGateway, model.KindAuthorizationPolicy, model.KindPeerAuthentication, model.KindServiceExport, model.KindServiceImport:
	}
}

func (w *World) indexSlice(key model.ObjectKey, slice *discoveryv1.EndpointSlice) {
	if slice == nil {
		w.slicesByService.set(key)
		w.slicesByPod.set(key)
		w.slicesByIP.set(key)
		return
	}
	if name := slice.Labels[model.LabelServiceName]; name != "" {
		w.slicesByService.set(key, term{key.Cluster, key.Namespace, name})
	} else {
		w.slicesByService.set(key)
	}
	var pods, ips []term
	for i := range slice.Endpoints {
		e := &slice.Endpoints[i]
		if ref := targetPod(e, key); ref != nil {
			pods = append(pods, term{ref.Cluster, ref.Namespace, ref.Name})
			continue
		}
		for _, a := range e.Addresses {
			ips = append(ips, term{key.Cluster, "", a})
		}
	}
	w.slicesByPod.set(key, pods...)
	w.slicesByIP.set(key, ips...)
}

func (w *World) indexPod(key model.ObjectKey, pod *corev1.Pod) {
	if pod == nil {
		w.podsByIP.set(key)
		w.podsByNode.set(key)
		return
	}
	var ips []term
	for _, ip := range podIPs(pod) {
		ips = append(ips, term{key.Cluster, "", ip})
	}
	w.podsByIP.set(key, ips...)
	w.podsByNode.set(key, term{key.Cluster, "", pod.Spec.NodeName})
}

// hostOf is the hostname of a Kubernetes Service.
func (w *World) hostOf(key model.ObjectKey) model.ServiceKey {
	return w.hostOfName(key.Namespace, key.Name)
}

func (w *World) hostOfName(namespace, name string) model.ServiceKey {
	host := model.Hostname(name + "." + namespace + ".svc." + w.mesh.DomainSuffix)
	return model.ServiceKey{Hostname: host, Namespace: namespace}
}

// kubeName is the inverse of hostOf; false if no Kubernetes Service can have it.
func (w *World) kubeName(key model.ServiceKey) (string, bool) {
	return cutHost(key, w.mesh.DomainSuffix)
}

func cutHost(key model.ServiceKey, domain string) (string, bool) {
	return strings.CutSuffix(string(key.Hostname), "."+key.Namespace+".svc."+domain)
}

// count keeps the clusters that have objects.
func (w *World) count(cluster model.ClusterID, by int) {
	if w.clusterIDs[cluster] += by; w.clusterIDs[cluster] == 0 {
		delete(w.clusterIDs, cluster)
	}
}

// clusters that have objects, the config cluster first.
func (w *World) clusters() []model.ClusterID { return sortedKeys(w.clusterIDs, w.clusterOrder) }

func (w *World) indexService(key model.ObjectKey, o source.Object) {
	s, _ := o.(*corev1.Service)
	if s != nil && reachedByNodes(s) {
		w.nodePorts[key] = struct{}{}
	} else {
		delete(w.nodePorts, key)
	}
	_, was := w.gatewayServices[key]
	if s != nil && s.Labels[model.LabelNetwork] != "" {
		w.gatewayServices[key] = struct{}{}
		was = true
	} else {
		delete(w.gatewayServices, key)
	}
	w.touched.gateways = w.touched.gateways || was || w.namesGateways()
}
