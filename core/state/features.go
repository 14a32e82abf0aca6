package state

// Features are those of Istio's feature flags that have a meaning here. The zero
// value is Istio's default.
type Features struct {
	// Ambient is PILOT_ENABLE_AMBIENT: endpoints may be reached over HBONE.
	Ambient bool
	// PreferHBONE is PILOT_PREFER_SENDING_HBONE: who takes both mTLS and HBONE gets
	// HBONE. NoHBONE is PILOT_ENABLE_SENDING_HBONE turned off: proxies have no cluster
	// for it. Both need Ambient.
	PreferHBONE, NoHBONE bool
	// NoLookups is RESOLVE_HOSTNAME_GATEWAYS turned off: a gateway that is a name stands
	// for no endpoint that is sent by address.
	NoLookups bool
	// NoEntriesInServices is PILOT_ENABLE_K8S_SELECT_WORKLOAD_ENTRIES turned off:
	// Services select no WorkloadEntries, and those of remote clusters are not read.
	// NoPodsInEntries is PILOT_ENABLE_SERVICEENTRY_SELECT_PODS turned off: ServiceEntries
	// select no Pods.
	NoEntriesInServices, NoPodsInEntries bool
	// NoAllocation is PILOT_ENABLE_IP_AUTOALLOCATE turned off: hosts of ServiceEntries
	// have no addresses by themselves.
	NoAllocation bool
	// DualStack is ISTIO_DUAL_STACK: an endpoint has the addresses of both families.
	DualStack bool
	// SendUnhealthy is PILOT_SEND_UNHEALTHY_ENDPOINTS: endpoints that are not ready
	// are sent, as such.
	SendUnhealthy bool
	// FilterGateways is PILOT_FILTER_GATEWAY_CLUSTER_CONFIG: routers have only the
	// services that VirtualServices of their Gateways and the mesh name.
	FilterGateways bool
	// ScopeGateways is PILOT_SCOPE_GATEWAY_TO_NAMESPACE: Gateways are for routers of
	// their own namespace only.
	ScopeGateways bool
	// ServiceExports is ENABLE_MCS_SERVICE_DISCOVERY: endpoints are for other
	// clusters only if their service is exported by a ServiceExport.
	ServiceExports bool
	// ServiceImports is ENABLE_MCS_HOST: a ServiceImport makes a service
	// NAME.NAMESPACE.svc.clusterset.local.
	ServiceImports bool
	// ClusterLocalHosts is ENABLE_MCS_CLUSTER_LOCAL: with ServiceExports, hosts
	// under cluster.local have the endpoints of the client's cluster only.
	ClusterLocalHosts bool
}
