package model

import "strings"

// Kind is the Kubernetes kind of an object that Edsight reads.
type Kind string

// The kinds that Edsight reads.
const (
	KindService             Kind = "Service"
	KindEndpointSlice       Kind = "EndpointSlice"
	KindEndpoints           Kind = "Endpoints"
	KindPod                 Kind = "Pod"
	KindNode                Kind = "Node"
	KindNamespace           Kind = "Namespace"
	KindConfigMap           Kind = "ConfigMap"
	KindServiceEntry        Kind = "ServiceEntry"
	KindWorkloadEntry       Kind = "WorkloadEntry"
	KindWorkloadGroup       Kind = "WorkloadGroup"
	KindSidecar             Kind = "Sidecar"
	KindDestinationRule     Kind = "DestinationRule"
	KindVirtualService      Kind = "VirtualService"
	KindGateway             Kind = "Gateway"
	KindAuthorizationPolicy Kind = "AuthorizationPolicy"
	KindPeerAuthentication  Kind = "PeerAuthentication"
	KindServiceExport       Kind = "ServiceExport"
	KindServiceImport       Kind = "ServiceImport"
)

// IsIstio tells whether the kind is one of Istio's own configuration kinds.
func (k Kind) IsIstio() bool {
	switch k {
	case KindServiceEntry, KindWorkloadEntry, KindWorkloadGroup, KindSidecar, KindDestinationRule,
		KindVirtualService, KindGateway, KindAuthorizationPolicy, KindPeerAuthentication:
		return true
	case KindService, KindEndpointSlice, KindEndpoints, KindPod, KindNode, KindNamespace, KindConfigMap,
		KindServiceExport, KindServiceImport:
		return false
	}
	return false
}

// ObjectKey identifies one object in one cluster.
type ObjectKey struct {
	Cluster   ClusterID `json:"cluster,omitempty"`
	Kind      Kind      `json:"kind"`
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name"`
}

// String gives "Kind/namespace/name", or "Kind/name" without a namespace.
func (k ObjectKey) String() string {
	if k.Namespace == "" {
		return string(k.Kind) + "/" + k.Name
	}
	return string(k.Kind) + "/" + k.Namespace + "/" + k.Name
}

// Compare orders by kind, namespace, name and cluster.
func (k ObjectKey) Compare(o ObjectKey) int {
	if c := strings.Compare(string(k.Kind), string(o.Kind)); c != 0 {
		return c
	}
	if c := strings.Compare(k.Namespace, o.Namespace); c != 0 {
		return c
	}
	if c := strings.Compare(k.Name, o.Name); c != 0 {
		return c
	}
	return strings.Compare(string(k.Cluster), string(o.Cluster))
}
