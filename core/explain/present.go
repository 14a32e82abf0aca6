package explain

import (
	"slices"
	"strings"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
)

// maxNotes bounds what is said about an endpoint that is there.
const maxNotes = 4

// present says why an endpoint is there. Much can be worth a word: the first that is
// more than a note is the cause, others are added to the sentence.
func (x *inquiry) present() finding {
	if x.q.Address == "" {
		x.q.Address = x.candidate.Address
	}
	var found []finding
	for _, look := range []func() (finding, bool){
		x.pipe, x.emptyAddress, x.throughGateway, x.mirrored, x.podOfAnotherIP, x.abandoned, x.duplicates, x.conditionIgnored, x.notReadyButSent,
		x.otherNetwork, x.otherIPFamily, x.selectsAll, x.placed, x.portOfWorkload, x.byRoute, x.joined, x.merged, x.won, x.unplaced,
		x.sentAgain, x.tunnelled,
	} {
		if f, ok := look(); ok {
			found = append(found, f)
		}
		if len(found) == maxNotes {
			break
		}
	}
	if len(found) == 0 {
		return finding{cause: NothingWrong, step: StepAssignment, object: *x.candidate.Source, why: x.origin()}
	}
	at := max(0, slices.IndexFunc(found, func(f finding) bool { return f.cause != NothingWrong }))
	main := found[at]
	main.why = x.origin() + "; " + main.why
	for _, f := range slices.Delete(found, at, at+1) {
		main.why += "; " + f.why
		main.evidence = append(main.evidence, f.evidence...)
	}
	return main
}

// origin is the chain from the source to the service.
func (x *inquiry) origin() string {
	c, d := x.candidate, x.imp.Definition
	switch {
	case c.Source.Kind == model.KindEndpointSlice && c.Target != nil:
		return x.name(*c.Source) + " lists it for " + x.name(d.Object) + ", and " + x.name(*c.Target) + " is behind it"
	case c.Source.Kind == model.KindEndpointSlice:
		return x.name(*c.Source) + " lists it for " + x.name(d.Object) + ", as a bare address without Pod"
	case c.Source.Kind == model.KindServiceEntry:
		return x.name(*c.Source) + " has it among its endpoints" + x.portOrigin()
	}
	return x.name(d.Object) + " selects " + x.name(*c.Source) + x.portOrigin()
}

// portOrigin says where the port number of an endpoint of a ServiceEntry or
// WorkloadEntry comes from.
func (x *inquiry) portOrigin() string {
	port := x.cluster.Port
	switch {
	case x.portsMap()[port.Name] > 0 || x.portsMap()[port.TargetPortName] > 0:
		return ""
	case port.TargetPort != 0 && port.TargetPort == x.candidate.Port:
		return ", at the targetPort " + number(port.TargetPort) + " of port " + portName(port.Name)
	case x.candidate.Port == port.Number:
		return ", at the number " + number(port.Number) + " of service port " + portName(port.Name) + " itself"
	}
	return ""
}

// portsMap is the map of ports that the endpoint has of its own.
func (x *inquiry) portsMap() map[string]uint32 {
	c := x.candidate
	if e := config[*networkingv1.WorkloadEntry](x, c.Source); e != nil {
		return e.Spec.GetPorts()
	}
	if e := config[*networkingv1.ServiceEntry](x, c.Source); e != nil {
		i := slices.IndexFunc(e.Spec.GetEndpoints(), func(w *networking.WorkloadEntry) bool { return w.GetAddress() == c.Address })
		if i >= 0 {
			return e.Spec.GetEndpoints()[i].GetPorts()
		}
	}
	return nil
}

func (x *inquiry) portOfWorkload() (finding, bool) {
	ports, port := x.portsMap(), x.cluster.Port
	if len(ports) == 0 {
		return finding{}, false
	}
	f := finding{cause: TargetPortFromWorkload, step: StepPortName, object: *x.candidate.Source}
	name := port.Name
	if ports[port.TargetPortName] > 0 {
		name = port.TargetPortName
	}
	if n := ports[name]; n > 0 {
		f.why = "its port " + number(n) + " is that of the ports map of " + x.name(f.object) + " for " + portName(name)
		return f.with(Evidence{Object: f.object, Field: "ports[" + name + "]", Have: number(n)}), true
	}
	f.cause = TargetPortFallback
	f.why = "the ports map of " + x.name(f.object) + " has no entry for port " + portName(name) + ", so the service's number " + number(x.candidate.Port) + " is used"
	f.remedy = "add " + portName(name) + " to the ports of " + x.name(f.object) + " if the workload listens elsewhere"
	return f.with(Evidence{Object: f.object, Field: "ports", Want: name, Have: labelTextOf(ports)}), true
}

func labelTextOf(ports map[string]uint32) string {
	l := make(model.Labels, len(ports))
	for k, v := range ports {
		l[k] = number(v)
	}
	return labelText(l)
}

func (x *inquiry) pipe() (finding, bool) {
	c := x.candidate
	if x.sent.Port != 0 || c.Source.Kind != model.KindEndpointSlice {
		return finding{}, false
	}
	return finding{
		cause: PortWithoutNumber, step: StepPortName, object: *c.Source,
		why:      "port " + portName(c.PortName) + " of " + x.name(*c.Source) + " has no number (port: null), so the address is sent as a pipe (a socket path), which no proxy can connect to",
		remedy:   "give the port of " + x.name(*c.Source) + " a number",
		evidence: []Evidence{{Object: *c.Source, Field: "ports.port", Want: "a number", Have: "null"}},
	}, true
}

func (x *inquiry) emptyAddress() (finding, bool) {
	if x.candidate.Address != "" || x.reason != model.ReasonNone {
		return finding{}, false
	}
	f := x.noAddress()
	f.why = x.name(f.object) + " has no address, in " + networkText(x.candidate.Endpoint.Workload.Network) +
		", and the mesh has no gateway of any network: an endpoint with an empty address is sent, which no proxy can use"
	f.remedy = "give " + x.name(f.object) + " an address, or define a gateway for its network"
	return f, true
}

// duplicates tells of further slices with the same address and port.
func (x *inquiry) duplicates() (finding, bool) {
	others := x.otherSlices()
	if len(others) == 0 {
		return finding{}, false
	}
	c := x.candidate
	return finding{
		cause: DuplicateAddress, step: StepSource, object: others[0],
		why:      x.duplicateText(others),
		remedy:   "leave the address to one slice",
		evidence: []Evidence{{Object: others[0], Field: "endpoints.addresses", Have: c.Address}, {Object: *c.Source, Field: "endpoints.addresses", Have: c.Address}},
	}, true
}

// otherSlices list the candidate's address and port too, which does not count.
func (x *inquiry) otherSlices() []model.ObjectKey {
	c := x.candidate
	var others []model.ObjectKey
	for _, o := range x.service.Candidates() {
		if o.Reason == model.ReasonDuplicateAddress && o.Address == c.Address && o.PortName == c.PortName && !slices.Contains(others, *o.Source) {
			others = append(others, *o.Source)
		}
	}
	return others
}

// sentAgain tells of others that are sent with the same address: workloads of other
// clusters, or WorkloadEntries.
func (x *inquiry) sentAgain() (finding, bool) {
	var others []model.ObjectKey
	for i, c := range x.service.Candidates() {
		if x.assignment.Reasons[i] == model.ReasonNone && c.Address == x.candidate.Address && *c.Source != *x.candidate.Source && !slices.Contains(others, *c.Source) {
			others = append(others, *c.Source)
		}
	}
	if len(others) == 0 || x.candidate.Address == "" {
		return finding{}, false
	}
	return finding{
		cause: NothingWrong, step: StepAssignment, object: *x.candidate.Source,
		why:      "the same address is sent once more, as " + x.names(others) + verb(len(others), " has", " have") + " it too",
		evidence: []Evidence{{Object: others[0], Field: "address", Have: x.candidate.Address}},
	}, true
}

func (x *inquiry) duplicateText(others []model.ObjectKey) string {
	return x.names(others) + verb(len(others), " lists", " list") + " the same address and port as " + x.name(*x.candidate.Source) +
		": it counts once, by the first slice in order of names"
}

func (x *inquiry) conditionIgnored() (finding, bool) {
	key := x.candidate.Source
	e := config[*networkingv1.WorkloadEntry](x, key)
	condition := healthCondition(e)
	if e == nil || !strings.HasPrefix(strings.ToLower(condition), "healthy=false") {
		return finding{}, false
	}
	have := e.Annotations[model.AnnotationHealthChecks]
	if have == "" {
		have = "absent"
	}
	return finding{
		cause: HealthConditionIgnored, step: StepHealth, object: *key,
		why:    x.name(*key) + " has the condition " + condition + ", which does not count, as its annotation " + model.AnnotationHealthChecks + " is " + have,
		remedy: "set the annotation " + model.AnnotationHealthChecks + `="true" on ` + x.name(*key),
		evidence: []Evidence{
			{Object: *key, Field: "metadata.annotations[" + model.AnnotationHealthChecks + "]", Want: "true", Have: have},
			{Object: *key, Field: "status.conditions[Healthy]", Have: condition},
		},
	}, true
}

// notReadyButSent tells of endpoints that are sent though they are not ready.
func (x *inquiry) notReadyButSent() (finding, bool) {
	c, d := x.candidate, x.imp.Definition
	have := x.conditions(c)
	f := finding{step: StepHealth, object: d.Object}
	switch pod := x.pod(c.Target); {
	case x.sent.Health == model.UnHealthy:
		f.cause = UnhealthyButSent
		f.why = x.listed() + " is not ready (" + have + "), and it is sent as UNHEALTHY since " + x.sentAnyway()
		return f.with(Evidence{Object: *c.Source, Field: "conditions", Want: "ready=true", Have: have}), true
	case x.sent.Health == model.Draining:
		f.cause = DrainingButSent
		why := have
		if w := c.Endpoint.Workload; w.Draining {
			why = "label " + model.LabelDraining + "=" + w.Labels[model.LabelDraining]
		}
		f.why = x.listed() + " is draining (" + why + "), and it is sent as DRAINING since " + x.name(d.Object) + " has the label " + model.LabelPersistentSession + "=" + d.Labels[model.LabelPersistentSession]
		return f.with(Evidence{Object: d.Object, Field: "metadata.labels[" + model.LabelPersistentSession + "]", Have: d.Labels[model.LabelPersistentSession]}), true
	case pod == nil || c.Source.Kind != model.KindEndpointSlice || c.Endpoint.Health != model.Healthy:
		return finding{}, false
	default:
		ready, text := podReady(pod)
		is := " is not Ready (" + text + ")"
		switch {
		case registry.Finished(pod):
			text = phaseText(pod)
			is = " has status.phase: " + text
		case pod.DeletionTimestamp != nil:
			text = "deletionTimestamp " + clock(pod.DeletionTimestamp.Time)
			is = " is terminating (" + text + ")"
		case ready:
			return finding{}, false
		}
		f.cause = PublishNotReady
		f.why = x.name(*c.Target) + is + ", and " + x.name(*c.Source) + " says ready (" + have + ")"
		if d.PublishNotReady {
			f.why += " as " + x.name(d.Object) + " has publishNotReadyAddresses: true"
			f.remedy = "take publishNotReadyAddresses off " + x.name(d.Object) + " if unready Pods should get no requests"
		} else {
			f.cause, f.object = NothingWrong, *c.Source
			f.why += "; only the slice counts"
		}
		return f.with(Evidence{Object: *c.Target, Field: "status", Want: "Ready=True", Have: text}), true
	}
}

// tunnelled tells of an endpoint of the ambient mesh.
func (x *inquiry) tunnelled() (finding, bool) {
	return finding{
		cause: NothingWrong, step: StepNetwork, object: *x.candidate.Source,
		why:      "requests go to it through a tunnel (HBONE), which " + x.name(x.behind()) + " takes",
		evidence: []Evidence{{Object: x.behind(), Field: "tunnel", Have: "HBONE"}},
	}, x.sent.Tunnel
}

// sentAnyway says why endpoints are sent that are not ready.
func (x *inquiry) sentAnyway() string {
	if d := x.imp.Definition; d.TrafficDistribution != model.DistributionAny {
		return x.name(d.Object) + " has " + x.distribution()
	}
	return "PILOT_SEND_UNHEALTHY_ENDPOINTS is on"
}

func (x *inquiry) selectsAll() (finding, bool) {
	if x.q.Subset == "" || x.cluster.View.Subset != "" || x.rule == nil {
		return finding{}, false
	}
	rule := x.subsetRule()
	return finding{
		cause: SubsetSelectsAll, step: StepLabels, object: rule,
		why:      "subset " + x.q.Subset + " of " + x.name(rule) + " has no labels, so it selects every endpoint",
		evidence: []Evidence{{Object: rule, Field: "spec.subsets[" + x.q.Subset + "].labels", Have: "none"}},
	}, true
}
