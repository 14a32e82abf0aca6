package explain

// Follow does what Run does when there is something new.
func (e *Explainer) Follow() { e.index.follow(e.opts.Objects, e.opts.Journal) }

// Causes lists all causes.
func Causes() []Cause {
	return []Cause{
		PodNotSeen, PodGone, PodIPDiffers, IPReused, PodFinished, PodWithoutIP, WorkloadNotReady,
		HealthConditionIgnored, WorkloadNotSelected, WrongServiceName, NoServiceName, FQDNSlice, SliceKindIgnored,
		SliceWithoutPorts, PortWithoutNumber, NoAddress, DuplicateAddress, StaleMirroredSlice, NoSource, NoService,
		NamespaceNotDiscovered, ResolutionNone, NotEDS, ExternalNameAlias, ExportTo, SidecarScope,
		ImportedByVirtualService, LostHostname, DefinitionWon, DefinitionsMerged, EndpointsJoined, PortNotMerged,
		ServicePortAbsent, PortNameMismatch, TargetPortFromWorkload, TargetPortFallback, AddressNotIP, SubsetLabels,
		SubsetSelectsAll, SubsetNotDefined, NodeLocal, NetworkView, ClusterLocal, NotDiscoverable, Unhealthy,
		UnhealthyButSent, Terminating, Draining, DrainingButSent, PublishNotReady, ReplacedByGateway,
		NetworkWithoutGateway, NetworkWithoutMTLS, PassthroughWithoutMTLS, ProxyWithoutNetwork, GatewayIPFamily,
		AddressFamily, LocalityNotDistributed, NoDistributeRule, Priority, NoPriorities, NothingWrong, ProxyUnknown,
	}
}
