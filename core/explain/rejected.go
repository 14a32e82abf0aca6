package explain

import (
	"cmp"
	"strings"

	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
)

// rejected says in words why the build left the candidate out.
func (x *inquiry) rejected() finding {
	f := x.rejection()
	if others := x.otherSlices(); len(others) > 0 {
		f.why += "; " + x.duplicateText(others)
		f.remedy += ", or leave the address to " + x.names(others)
	}
	return f
}

func (x *inquiry) rejection() finding {
	switch x.reason {
	case model.ReasonNone:
		return x.hidden()
	case model.ReasonReplacedByGateway:
		f := x.notDistributed() // the gateway takes the endpoint's locality
		f.why += "; the gateway " + x.gatewayText() + ", which stands for it, is left out with it"
		return f
	case model.ReasonNoServiceName, model.ReasonNoService, model.ReasonFQDNSlice, model.ReasonSliceKindIgnored,
		model.ReasonSliceWithoutPorts, model.ReasonNamespaceNotDiscovered, model.ReasonResolutionNone,
		model.ReasonNotVisible, model.ReasonAlias, model.ReasonDuplicateAddress:
		return x.rejectedSlice()
	case model.ReasonNoAddress:
		return x.noAddress()
	case model.ReasonPodNotSeen, model.ReasonPodGone:
		return x.podNotSeen()
	case model.ReasonPodFinished, model.ReasonPodWithoutIP, model.ReasonWorkloadNotReady, model.ReasonWorkloadNotSelected:
		return x.workloadNotServing()
	case model.ReasonPortNameMismatch, model.ReasonAddressNotIP:
		return x.portMismatch()
	case model.ReasonSubsetLabels:
		return x.subsetLabels()
	case model.ReasonNodeLocal, model.ReasonNetworkView, model.ReasonClusterLocal, model.ReasonNotDiscoverable:
		return x.otherPlace()
	case model.ReasonUnhealthy, model.ReasonTerminating, model.ReasonDraining:
		return x.unhealthy()
	case model.ReasonNetworkWithoutMTLS, model.ReasonPassthroughWithoutMTLS:
		return x.withoutMTLS()
	case model.ReasonLocalityNotDistributed:
		return x.notDistributed()
	}
	return x.hidden()
}

// hidden is for a verdict without words of its own; it must not happen.
func (x *inquiry) hidden() finding {
	c := x.candidate
	return finding{cause: causeOf(x.reason), step: StepAssignment, object: *c.Source, why: x.reason.Text(), remedy: x.reason.Remedy()}
}

func (x *inquiry) rejectedSlice() finding {
	c, d := x.candidate, x.imp.Definition
	f := finding{cause: causeOf(x.reason), step: StepSource, object: *c.Source, remedy: x.reason.Remedy()}
	slice := x.name(*c.Source) + " lists " + x.given() + " for " + x.name(d.Object)
	f.why = slice + ", but " + x.reason.Text()
	switch x.reason { //nolint:exhaustive // the others have nothing to add
	case model.ReasonFQDNSlice:
		f.why = slice + ", but it has addressType: FQDN, and only slices of IP addresses (IPv4, IPv6) are read"
		f.remedy = "list IP addresses in " + x.name(*c.Source) + ", or define a ServiceEntry with resolution DNS"
		f = f.with(Evidence{Object: *c.Source, Field: "addressType", Want: "IPv4 or IPv6", Have: "FQDN"})
	case model.ReasonSliceKindIgnored:
		f.why = slice + ", but it has the label " + model.LabelMultiClusterService + ", and slices of the multi-cluster services API are not read"
		f.remedy = "remove the label " + model.LabelMultiClusterService + " from " + x.name(*c.Source)
		f = f.with(Evidence{Object: *c.Source, Field: "labels[" + model.LabelMultiClusterService + "]", Want: "absent", Have: "set"})
	case model.ReasonSliceWithoutPorts:
		f.why = slice + ", but it has no ports, so there is none that could be port " + portName(x.cluster.Port.Name) + " of the Service"
		f.remedy = "give " + x.name(*c.Source) + " the port " + portName(x.cluster.Port.Name)
		f = x.unresolved(f.with(Evidence{Object: *c.Source, Field: "ports", Want: x.cluster.Port.Name, Have: "none"}))
	case model.ReasonNamespaceNotDiscovered:
		f = x.leftOut(model.ObjectKey{Cluster: c.Source.Cluster, Kind: model.KindNamespace, Name: c.Source.Namespace})
		f.why = slice + ", but " + f.why
	case model.ReasonNotVisible:
		own := d.In(c.Source.Cluster)
		if own == nil {
			own = d
		}
		f.object, f.step = own.Object, StepScope
		f.why = slice + ", but " + x.nameIn(own.Object) + " has the annotation " + model.AnnotationExportTo + ": " + quoteExport("~", d.Key.Namespace) +
			", and endpoints of such a Service are not taken"
		f.remedy = "take ~ out of exportTo of " + x.nameIn(own.Object)
	}
	return f
}

// given is the address asked about, or that of the candidate.
func (x *inquiry) given() string {
	if x.q.Address != "" {
		return x.q.Address
	}
	if x.candidate != nil && x.candidate.Address != "" {
		return x.candidate.Address
	}
	return "an empty address"
}

// noAddress is about a WorkloadEntry without address.
func (x *inquiry) noAddress() finding {
	c := x.candidate
	f := finding{cause: NoAddress, step: StepWorkload, object: *c.Source}
	if c.Target != nil {
		f.object = *c.Target
	}
	network := model.NetworkID("")
	if c.Endpoint != nil {
		network = c.Endpoint.Workload.Network
	} else if e := config[*networkingv1.WorkloadEntry](x, c.Target); e != nil {
		network = model.NetworkID(e.Spec.GetNetwork())
	}
	f.evidence = []Evidence{
		{Object: f.object, Field: "spec.address", Want: "an IP address", Have: c.Address},
		{Object: f.object, Field: "spec.network", Have: string(network)},
		{Object: x.proxy.Pod, Field: "network of the proxy", Have: string(x.proxy.Network)},
	}
	if c.Address != "" {
		f.why = x.name(f.object) + " has the address " + c.Address + ", which is not an IP address, and " + x.name(x.imp.Definition.Object) + " takes only these"
		f.remedy = "give " + x.name(f.object) + " an IP address, or use resolution DNS"
		return f
	}
	f.why = x.name(f.object) + " has no address, in " + networkText(network)
	switch x.proxy.Network {
	case "":
		f.why += ", and the proxy has no network, so no gateway stands for it"
	case network:
		f.why += ", which is the proxy's own, so no gateway stands for it"
	default:
		f.why += ", and no gateway of that network stands for it (the proxy is in " + networkText(x.proxy.Network) + ")"
	}
	f.remedy = "give " + x.name(f.object) + " an address, or give the proxy a network other than " + string(network) + " and that network a gateway"
	return f
}

func (x *inquiry) podNotSeen() finding {
	c := x.candidate
	f := finding{cause: PodNotSeen, step: StepWorkload, object: *c.Source}
	list := x.name(*c.Source) + " lists " + x.given() + " for " + x.name(x.imp.Definition.Object) + " with the targetRef " + x.name(*c.Target)
	f.why = list + ", a Pod that has not been seen: the address waits for it"
	f.remedy = "wait for " + x.name(*c.Target) + ", or correct the targetRef of " + x.name(*c.Source)
	if c.Target.Namespace == "" {
		f.why = x.name(*c.Source) + " lists " + x.given() + " for " + x.name(x.imp.Definition.Object) + " with a targetRef to Pod " + c.Target.Name +
			" that has no namespace, and none is assumed: the address waits for a Pod that cannot come"
		f.remedy = "give the targetRef of " + x.name(*c.Source) + " the namespace " + c.Source.Namespace
		return f.with(Evidence{Object: *c.Source, Field: "endpoints.targetRef.namespace", Want: c.Source.Namespace})
	}
	have := "not seen"
	if reach := x.reach(); reach != "" {
		f.why = list + ", a Pod that has not been seen (not " + reach + "): the address waits for it"
	}
	if at, ok := x.deleted(*c.Target); ok || x.reason == model.ReasonPodGone {
		f.cause, have = PodGone, "deleted"
		f.why = list + ", a Pod that was there and is gone (deleted"
		if !at.IsZero() {
			f.why += " at " + clock(at)
		}
		f.why += ")"
		f.remedy = "wait for the EndpointSlice controller to take the address out of " + x.name(*c.Source)
	}
	f = f.with(Evidence{Object: *c.Target, Field: "metadata.name", Want: c.Target.Name, Have: have})
	for _, key := range x.podsWith() {
		f.why += "; " + x.name(key) + " has the address"
		return f.with(Evidence{Object: key, Field: "status.podIPs", Have: x.q.Address})
	}
	return f
}

// workloadNotServing is about a Pod or WorkloadEntry that a ServiceEntry selects.
func (x *inquiry) workloadNotServing() finding {
	c := x.candidate
	key := *c.Source
	if c.Target != nil {
		key = *c.Target
	}
	pod := x.pod(&key)
	phase := "Failed or Succeeded"
	if pod != nil {
		phase = phaseText(pod)
	}
	switch x.reason { //nolint:exhaustive // the others are about readiness
	case model.ReasonPodFinished:
		return x.podFinished(key, phase)
	case model.ReasonPodWithoutIP:
		return x.podWithoutIP(key)
	}
	f := finding{cause: WorkloadNotReady, step: StepWorkload, object: key, remedy: "mend " + x.name(key) + " so that it becomes ready"}
	if key.Kind == model.KindWorkloadEntry {
		return x.entryNotReady(f, key)
	}
	condition := "Ready=False"
	if pod != nil {
		_, condition = podReady(pod)
	}
	f.why = x.name(key) + ", which " + x.name(x.imp.Definition.Object) + " selects, is not Ready: " + condition
	return f.with(Evidence{Object: key, Field: "status.conditions[Ready]", Want: "Ready=True", Have: condition})
}

// entryNotReady is about the health check of a WorkloadEntry.
func (x *inquiry) entryNotReady(f finding, key model.ObjectKey) finding {
	f.why = x.name(key) + ", which " + x.name(x.imp.Definition.Object) + " selects, "
	e := config[*networkingv1.WorkloadEntry](x, &key)
	if e == nil {
		f.why += "is not healthy"
		return f
	}
	condition := healthCondition(e)
	if condition == "" {
		f.why += "has no condition Healthy"
		f.remedy = "wait for the first health check of " + x.name(key) + ", or take the annotation off it"
	} else {
		f.why += "has the condition " + condition
	}
	f.why += " and the annotation " + model.AnnotationHealthChecks + "=" + e.Annotations[model.AnnotationHealthChecks]
	return f.with(Evidence{Object: key, Field: "status.conditions[Healthy]", Want: "Healthy=True", Have: cmp.Or(condition, "absent")})
}

// healthCondition is the condition of a WorkloadEntry as text, "" without one.
func healthCondition(e *networkingv1.WorkloadEntry) string {
	if e != nil {
		for _, c := range e.Status.GetConditions() {
			if c.GetType() == "Healthy" {
				return strings.Join(strings.Fields("Healthy="+c.GetStatus()+" "+c.GetReason()+" "+c.GetMessage()), " ")
			}
		}
	}
	return ""
}

func (x *inquiry) podFinished(key model.ObjectKey, phase string) finding {
	return finding{
		cause: PodFinished, step: StepWorkload, object: key,
		why:      x.name(key) + ", which " + x.name(x.imp.Definition.Object) + " selects, has status.phase: " + phase + " and serves no more",
		remedy:   "start another Pod; a finished one does not come back",
		evidence: []Evidence{{Object: key, Field: "status.phase", Want: "Running", Have: phase}},
	}
}

func (x *inquiry) podWithoutIP(key model.ObjectKey) finding {
	phase := "Pending"
	if pod := x.pod(&key); pod != nil && pod.Status.Phase != "" {
		phase = phaseText(pod)
	}
	return finding{
		cause: PodWithoutIP, step: StepWorkload, object: key,
		why:      x.name(key) + ", which " + x.name(x.imp.Definition.Object) + " selects, is " + phase + " and has no IP yet",
		remedy:   "wait until " + x.name(key) + " has its IP (status.podIP)",
		evidence: []Evidence{{Object: key, Field: "status.podIP", Want: "an IP address", Have: ""}},
	}
}
