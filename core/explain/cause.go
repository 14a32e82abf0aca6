package explain

import "github.com/edsight/edsight/core/model"

// Cause is the slug of a reason why a proxy has an endpoint, or not.
type Cause string

// The causes. Those marked (present) come with an endpoint that is there.
const (
	PodNotSeen               Cause = "pod-not-seen"
	PodGone                  Cause = "pod-gone"
	PodIPDiffers             Cause = "pod-ip-differs" // (present)
	IPReused                 Cause = "ip-reused"      // (present)
	PodFinished              Cause = "pod-finished"
	PodWithoutIP             Cause = "pod-without-ip"
	WorkloadNotReady         Cause = "workload-not-ready"
	HealthConditionIgnored   Cause = "health-condition-ignored" // (present)
	WorkloadNotSelected      Cause = "workload-not-selected"
	WrongServiceName         Cause = "wrong-service-name"
	NoServiceName            Cause = "no-service-name"
	FQDNSlice                Cause = "fqdn-slice"
	SliceKindIgnored         Cause = "slice-kind-ignored"
	SliceWithoutPorts        Cause = "slice-without-ports"
	PortWithoutNumber        Cause = "port-without-number"  // (present)
	NoAddress                Cause = "no-address"           // (present where it is sent without)
	DuplicateAddress         Cause = "duplicate-address"    // (present)
	StaleMirroredSlice       Cause = "stale-mirrored-slice" // (present)
	NoSource                 Cause = "no-source"
	NoService                Cause = "no-service"
	NamespaceNotDiscovered   Cause = "namespace-not-discovered"
	ResolutionNone           Cause = "resolution-none"
	NotEDS                   Cause = "not-eds"
	ExternalNameAlias        Cause = "externalname-alias"
	ExportTo                 Cause = "export-to"
	SidecarScope             Cause = "sidecar-scope"
	ImportedByVirtualService Cause = "imported-by-virtualservice" // (present)
	LostHostname             Cause = "lost-hostname"
	DefinitionWon            Cause = "definition-won"     // (present)
	DefinitionsMerged        Cause = "definitions-merged" // (present)
	EndpointsJoined          Cause = "endpoints-joined"   // (present)
	PortNotMerged            Cause = "port-not-merged"
	ServicePortAbsent        Cause = "service-port-absent"
	PortNameMismatch         Cause = "port-name-mismatch"
	TargetPortFromWorkload   Cause = "target-port-from-workload" // (present)
	TargetPortFallback       Cause = "target-port-fallback"      // (present)
	AddressNotIP             Cause = "address-not-ip"
	SubsetLabels             Cause = "subset-labels"
	SubsetSelectsAll         Cause = "subset-selects-all" // (present)
	SubsetNotDefined         Cause = "subset-not-defined"
	NodeLocal                Cause = "node-local"
	NetworkView              Cause = "network-view"
	ClusterLocal             Cause = "cluster-local"
	NotDiscoverable          Cause = "not-discoverable"
	Unhealthy                Cause = "unhealthy"
	UnhealthyButSent         Cause = "unhealthy-but-sent" // (present)
	Terminating              Cause = "terminating"
	Draining                 Cause = "draining"
	DrainingButSent          Cause = "draining-but-sent"       // (present)
	PublishNotReady          Cause = "publish-not-ready"       // (present)
	ReplacedByGateway        Cause = "replaced-by-gateway"     // (present)
	NetworkWithoutGateway    Cause = "network-without-gateway" // (present)
	NetworkWithoutMTLS       Cause = "network-without-mtls"
	PassthroughWithoutMTLS   Cause = "passthrough-without-mtls"
	ProxyWithoutNetwork      Cause = "proxy-without-network" // (present)
	GatewayIPFamily          Cause = "gateway-ip-family"     // (present)
	AddressFamily            Cause = "address-family"        // (present)
	LocalityNotDistributed   Cause = "locality-not-distributed"
	NoDistributeRule         Cause = "no-distribute-rule" // (present)
	Priority                 Cause = "priority"           // (present)
	NoPriorities             Cause = "no-priorities"      // (present)
	NothingWrong             Cause = "nothing-wrong"      // (present)
	// ProxyUnknown: there is no such proxy, or the asker may not see it.
	ProxyUnknown Cause = "proxy-unknown"
)

// causeOf is the cause that a verdict of the build stands for.
func causeOf(r model.Reason) Cause { return Cause(r.String()) }
