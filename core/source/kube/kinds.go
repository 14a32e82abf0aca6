package kube

import (
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"
	securityv1 "istio.io/client-go/pkg/apis/security/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
)

// meshConfigMap holds the mesh configuration, in the root namespace.
const meshConfigMap = "istio"

// Kinds of the multi-cluster services API, if it is installed.
const (
	mcsGroup   = "multicluster.x-k8s.io"
	mcsVersion = "v1alpha1"
)

// addKinds adds the kinds that count in every cluster.
func (c *Cluster) addKinds(clients *clients) {
	core, discovery, all := clients.core.CoreV1(), clients.core.DiscoveryV1(), metav1.NamespaceAll
	addListed(c, &kind{kind: model.KindService, groupVersion: "v1", resource: "services"},
		core.Services(all), core.RESTClient(), nil, stripService)
	addListed(c, &kind{kind: model.KindEndpointSlice, groupVersion: "discovery.k8s.io/v1", resource: "endpointslices"},
		discovery.EndpointSlices(all), discovery.RESTClient(), nil, stripSlice)
	addListed(c, &kind{kind: model.KindPod, groupVersion: "v1", resource: "pods", same: samePod},
		core.Pods(all), core.RESTClient(), keptPod(), newSiblings().strip)
	addListed(c, &kind{kind: model.KindNode, groupVersion: "v1", resource: "nodes", same: sameNode},
		core.Nodes(), core.RESTClient(), nil, stripNode)
	addListed(c, &kind{kind: model.KindNamespace, groupVersion: "v1", resource: "namespaces", same: sameNamespace},
		core.Namespaces(), core.RESTClient(), nil, stripNamespace)
	add(c, &kind{kind: model.KindWorkloadEntry, groupVersion: "networking.istio.io/v1", resource: "workloadentries"},
		clients.istio.NetworkingV1().WorkloadEntries(all), &networkingv1.WorkloadEntry{}, &networkingv1.WorkloadEntryList{}, stripMeta)
	c.addMultiCluster(clients.dynamic, model.KindServiceExport, "serviceexports")
	c.addMultiCluster(clients.dynamic, model.KindServiceImport, "serviceimports")
}

// addMultiCluster adds a kind of the multi-cluster services API.
func (c *Cluster) addMultiCluster(client dynamic.Interface, k model.Kind, resource string) {
	version := schema.GroupVersion{Group: mcsGroup, Version: mcsVersion}
	example := &unstructured.Unstructured{}
	example.SetGroupVersionKind(version.WithKind(string(k)))
	empty := &unstructured.UnstructuredList{}
	empty.SetGroupVersionKind(version.WithKind(string(k) + "List"))
	add(c, &kind{kind: k, groupVersion: version.String(), resource: resource},
		client.Resource(version.WithResource(resource)), example, empty, stripUnstructured)
}

// addConfigKinds adds the kinds that count in the config cluster only.
func (c *Cluster) addConfigKinds(clients *clients, rootNamespace string) {
	add(c, &kind{kind: model.KindConfigMap, groupVersion: "v1", resource: "configmaps", only: meshConfigMap},
		clients.core.CoreV1().ConfigMaps(rootNamespace), &corev1.ConfigMap{}, &corev1.ConfigMapList{}, stripConfigMap)
	const networking, security = "networking.istio.io/v1", "security.istio.io/v1"
	net, sec, all := clients.istio.NetworkingV1(), clients.istio.SecurityV1(), metav1.NamespaceAll
	add(c, &kind{kind: model.KindServiceEntry, groupVersion: networking, resource: "serviceentries"},
		net.ServiceEntries(all), &networkingv1.ServiceEntry{}, &networkingv1.ServiceEntryList{}, stripMeta)
	add(c, &kind{kind: model.KindWorkloadGroup, groupVersion: networking, resource: "workloadgroups"},
		net.WorkloadGroups(all), &networkingv1.WorkloadGroup{}, &networkingv1.WorkloadGroupList{}, stripMeta)
	add(c, &kind{kind: model.KindSidecar, groupVersion: networking, resource: "sidecars"},
		net.Sidecars(all), &networkingv1.Sidecar{}, &networkingv1.SidecarList{}, stripMeta)
	add(c, &kind{kind: model.KindDestinationRule, groupVersion: networking, resource: "destinationrules"},
		net.DestinationRules(all), &networkingv1.DestinationRule{}, &networkingv1.DestinationRuleList{}, stripMeta)
	add(c, &kind{kind: model.KindVirtualService, groupVersion: networking, resource: "virtualservices"},
		net.VirtualServices(all), &networkingv1.VirtualService{}, &networkingv1.VirtualServiceList{}, stripMeta)
	add(c, &kind{kind: model.KindGateway, groupVersion: networking, resource: "gateways"},
		net.Gateways(all), &networkingv1.Gateway{}, &networkingv1.GatewayList{}, stripMeta)
	add(c, &kind{kind: model.KindAuthorizationPolicy, groupVersion: security, resource: "authorizationpolicies"},
		sec.AuthorizationPolicies(all), &securityv1.AuthorizationPolicy{}, &securityv1.AuthorizationPolicyList{}, stripMeta)
	add(c, &kind{kind: model.KindPeerAuthentication, groupVersion: security, resource: "peerauthentications"},
		sec.PeerAuthentications(all), &securityv1.PeerAuthentication{}, &securityv1.PeerAuthenticationList{}, stripMeta)
}

// addListed adds a kind of Kubernetes' own. Of the objects in its lists the fields are
// decoded that are named, nil for all.
func addListed[L runtime.Object, T any, O listed[T]](c *Cluster, k *kind, client api[L], rest rest.Interface, fields kept, strip func(O) O) {
	l := lister[L, T, O]{api: client, rest: rest, resource: k.resource, fields: fields, strip: strip}
	add(c, k, l, O(new(T)), &internalversion.List{}, nil)
}

// add completes k and makes it one of the cluster's. With a nil strip objects are
// stored as client gives them.
func add[L runtime.Object, O source.Object](c *Cluster, k *kind, client api[L], example O, empty L, strip func(O) O) {
	k.refused = make(chan struct{})
	k.informer = cache.NewSharedIndexInformerWithOptions(listWatch(c, k, client, empty), example,
		cache.SharedIndexInformerOptions{ObjectDescription: string(k.kind)})
	if strip != nil {
		k.strip = func(o any) (any, error) {
			if obj, ok := o.(O); ok {
				return strip(obj), nil
			}
			return o, nil
		}
	}
	c.kinds[k.kind] = k
}
