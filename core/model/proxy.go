package model

// ProxyType is the role of a proxy.
type ProxyType string

// The types of proxies.
const (
	Sidecar ProxyType = "sidecar"
	Router  ProxyType = "router"
)

// What injection writes into a Pod: the container that runs the proxy, and the prefix of
// its variables that become metadata of the proxy's node.
const (
	ProxyContainer = "istio-proxy"
	MetadataEnv    = "ISTIO_META_"
)

// Proxy is a data plane instance as the control plane knows it, connected or
// modelled from its Pod.
type Proxy struct {
	// ID is "<pod>.<namespace>".
	ID        string
	Type      ProxyType
	Pod       ObjectKey
	Namespace string
	Cluster   ClusterID
	Network   NetworkID
	// WorkloadNetwork is that of its workload as an endpoint, which the mesh's
	// networks may know by its address or cluster where the proxy does not.
	WorkloadNetwork NetworkID
	Node            string
	Locality        Locality
	Labels          Labels
	IPs             []string
	ServiceAccount  string
	// Version is the proxy's Istio version, "" if unknown.
	Version string
	// NetworkView is the requested network view; nil sees every network.
	NetworkView []NetworkID
	// NoHBONE: it sends nothing over HBONE (ISTIO_META_DISABLE_HBONE_SEND).
	NoHBONE bool
	// GRPC: it is a library of gRPC and no Envoy (ISTIO_META_GENERATOR is "grpc").
	GRPC bool
	// ContainerPorts are the named ports of the Pod's containers; named target
	// ports of Services are looked up here for the inbound side.
	ContainerPorts map[string]uint32
}
