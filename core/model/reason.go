package model

// Reason says why a candidate is not what a proxy gets. One byte per endpoint
// and built view; the operands are found in the candidate and the view beside
// it. The zero value means that there is nothing to say: admitted, or sent.
type Reason uint8

// The reasons, in the order in which they are decided: before the index, then
// in the view of a proxy.
const (
	ReasonNone Reason = iota
	// Before the index.
	ReasonNoServiceName
	ReasonNoService
	ReasonFQDNSlice
	ReasonSliceKindIgnored
	ReasonSliceWithoutPorts
	ReasonNoAddress
	ReasonPodNotSeen
	ReasonPodGone
	ReasonPodFinished
	ReasonPodWithoutIP
	ReasonWorkloadNotReady
	ReasonWorkloadNotSelected
	ReasonNamespaceNotDiscovered
	ReasonDuplicateAddress
	ReasonResolutionNone
	ReasonNotVisible
	ReasonAlias
	// In the view.
	ReasonPortNameMismatch
	ReasonAddressNotIP
	ReasonSubsetLabels
	ReasonNodeLocal
	ReasonNetworkView
	ReasonClusterLocal
	ReasonNotDiscoverable
	ReasonUnhealthy
	ReasonTerminating
	ReasonDraining
	ReasonReplacedByGateway
	ReasonNetworkWithoutMTLS
	ReasonPassthroughWithoutMTLS
	ReasonLocalityNotDistributed
	reasonCount
)

// Stage is where on the way from the slice to the proxy a reason applies.
type Stage uint8

// The stages.
const (
	StageNone Stage = iota
	StageAdmission
	StageView
)

// String names the stage.
func (s Stage) String() string {
	switch s {
	case StageNone:
		return "none"
	case StageAdmission:
		return "admission"
	case StageView:
		return "view"
	}
	return "invalid"
}

type reasonText struct{ slug, text, remedy string }

var reasonTexts = [reasonCount]reasonText{ //nolint:gochecknoglobals // a constant table
	ReasonNone:                   {"nothing-wrong", "sent", ""},
	ReasonNoServiceName:          {"no-service-name", "the slice has no kubernetes.io/service-name label", "label the slice with its service's name"},
	ReasonNoService:              {"no-service", "no Service has the name in the slice's kubernetes.io/service-name label", "create the Service, or correct the label"},
	ReasonFQDNSlice:              {"fqdn-slice", "the slice's addressType is FQDN", "use a slice of IP addresses, or a ServiceEntry"},
	ReasonSliceKindIgnored:       {"slice-kind-ignored", "only EndpointSlices of Kubernetes are read: neither Endpoints nor slices of the multi-cluster services API", "create an EndpointSlice of Kubernetes"},
	ReasonSliceWithoutPorts:      {"slice-without-ports", "the slice has no ports", "give the slice its ports"},
	ReasonNoAddress:              {"no-address", "there is no address", "give it an address"},
	ReasonPodNotSeen:             {"pod-not-seen", "the slice's targetRef names a Pod that is not there (yet, or any more)", "wait for the Pod, or correct the targetRef"},
	ReasonPodGone:                {"pod-gone", "the slice's targetRef names a Pod that is deleted", "wait for the EndpointSlice controller to update the slice"},
	ReasonPodFinished:            {"pod-finished", "the Pod is Failed or Succeeded", "replace the Pod"},
	ReasonPodWithoutIP:           {"pod-without-ip", "the Pod has no IP yet", "wait for the Pod's network"},
	ReasonWorkloadNotReady:       {"workload-not-ready", "the workload is not ready", "look at its readiness"},
	ReasonWorkloadNotSelected:    {"workload-not-selected", "the workload does not match the selector", "change its labels or the selector"},
	ReasonNamespaceNotDiscovered: {"namespace-not-discovered", "the namespace is outside discoverySelectors", "label the namespace, or change discoverySelectors"},
	ReasonDuplicateAddress:       {"duplicate-address", "another slice of the service lists the same address and port; it counts once", ""},
	ReasonResolutionNone:         {"resolution-none", "the ServiceEntry's resolution is NONE, so its endpoints have no effect", "use resolution STATIC"},
	ReasonNotVisible:             {"export-to", "the service has ~ in exportTo, so that no endpoints of it are taken", "take ~ out of exportTo"},
	ReasonAlias:                  {"externalname-alias", "the service is an ExternalName; it has no endpoints of its own", "look at the service it points to"},
	ReasonPortNameMismatch:       {"port-name-mismatch", "the endpoint's port name is not that of the service port", "give both ports the same name"},
	ReasonAddressNotIP:           {"address-not-ip", "the address is a name, and the cluster takes IP addresses", "use an IP address, or resolution DNS"},
	ReasonSubsetLabels:           {"subset-labels", "the endpoint's labels are not those of the subset", "change the workload's labels or the subset"},
	ReasonNodeLocal:              {"node-local", "internalTrafficPolicy is Local and the endpoint is on another node", "use internalTrafficPolicy Cluster"},
	ReasonNetworkView:            {"network-view", "the endpoint's network is not in the proxy's requested network view", "add the network to ISTIO_META_REQUESTED_NETWORK_VIEW"},
	ReasonClusterLocal:           {"cluster-local", "the service is cluster-local and the endpoint is in another cluster", "change serviceSettings of the mesh"},
	ReasonNotDiscoverable:        {"not-discoverable", "the service is not exported from the endpoint's cluster", "create a ServiceExport there"},
	ReasonUnhealthy:              {"unhealthy", "the endpoint is not ready", "look at the Pod's readiness"},
	ReasonTerminating:            {"terminating", "the endpoint is terminating", "wait for its replacement"},
	ReasonDraining:               {"draining", "the endpoint is draining and the Service lacks the label istio.io/persistent-session", "label the Service to keep sessions on draining endpoints"},
	ReasonReplacedByGateway:      {"replaced-by-gateway", "the address of the network's gateway stands for it", ""},
	ReasonNetworkWithoutMTLS:     {"network-without-mtls", "it is in another network, behind a gateway, and there is no mTLS to it", "inject the workload, or enable mTLS"},
	ReasonPassthroughWithoutMTLS: {"passthrough-without-mtls", "the cluster passes mTLS through to its endpoints, and there is no mTLS to this one", "inject the workload, or enable mTLS"},
	ReasonLocalityNotDistributed: {"locality-not-distributed", "distribute applies to this proxy and names no locality that matches the endpoint's", "add the locality to distribute"},
}

// Reasons lists every reason but ReasonNone, in order.
func Reasons() []Reason {
	all := make([]Reason, 0, reasonCount-1)
	for r := ReasonNone + 1; r < reasonCount; r++ {
		all = append(all, r)
	}
	return all
}

// Stage tells where the reason applies.
func (r Reason) Stage() Stage {
	switch {
	case r == ReasonNone:
		return StageNone
	case r < ReasonPortNameMismatch:
		return StageAdmission
	default:
		return StageView
	}
}

// String gives the slug used in JSON, for example "pod-not-seen".
func (r Reason) String() string {
	if r >= reasonCount {
		return "invalid"
	}
	return reasonTexts[r].slug
}

// MarshalText gives the slug.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Text says the reason in words.
func (r Reason) Text() string {
	if r >= reasonCount {
		return "invalid"
	}
	return reasonTexts[r].text
}

// Remedy says what would change it, "" if nothing needs to.
func (r Reason) Remedy() string {
	if r >= reasonCount {
		return ""
	}
	return reasonTexts[r].remedy
}
