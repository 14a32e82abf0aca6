package model

import "strings"

// Hostname is the fully qualified name of a service, for example
// "web.shop.svc.cluster.local" or "*.example.com".
type Hostname string

// ClusterID names a Kubernetes cluster of the mesh; the config cluster of a
// default installation is "Kubernetes".
type ClusterID string

// NetworkID names an L3 network; "" is the network of everybody who has none.
type NetworkID string

// Provider names the kind of registry that a service or shard comes from.
type Provider string

// The two providers of Istio.
const (
	ProviderKubernetes Provider = "Kubernetes"
	ProviderExternal   Provider = "External"
)

// ShardKey identifies the part of a service's endpoints that one provider in
// one cluster contributes.
type ShardKey struct {
	Provider Provider
	Cluster  ClusterID
}

// String gives "Provider/Cluster", the form used in endpointShardz.
func (k ShardKey) String() string { return string(k.Provider) + "/" + string(k.Cluster) }

// MarshalText makes a ShardKey usable as a JSON map key.
func (k ShardKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// ServiceKey identifies the endpoints of a host in a namespace. Definitions of
// one host in several namespaces are different services.
type ServiceKey struct {
	Hostname  Hostname
	Namespace string
}

// String gives "namespace/hostname".
func (k ServiceKey) String() string { return k.Namespace + "/" + string(k.Hostname) }

// Compare orders by hostname, then by namespace.
func (k ServiceKey) Compare(o ServiceKey) int {
	if c := strings.Compare(string(k.Hostname), string(o.Hostname)); c != 0 {
		return c
	}
	return strings.Compare(k.Namespace, o.Namespace)
}
