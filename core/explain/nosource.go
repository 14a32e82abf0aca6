package explain

import (
	"slices"
	"strings"

	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
)

// noSource says that nothing lists the address, and what is listed instead.
func (x *inquiry) noSource() finding {
	d := x.imp.Definition
	var listed []string
	seen := map[string]bool{}
	for _, c := range x.service.Candidates() {
		if c.Address != "" && !seen[c.Address] {
			seen[c.Address] = true
			listed = append(listed, c.Address)
		}
	}
	have := "nothing is"
	if len(listed) > 0 {
		have = and(listed) + " are"
		if len(listed) == 1 {
			have = listed[0] + " is"
		}
	}
	f := finding{
		cause: NoSource, step: StepSource, object: d.Object,
		why: "nothing lists " + x.q.Address + " for " + x.name(d.Object) + " (no slice, no selected workload, no endpoint of its own)",
	}
	former, when := x.former(d.Key)
	if reach := x.reach(); former == nil && reach != "" {
		f.why += ", nor did anything " + reach
	}
	f.why += "; " + have + " listed for it" + x.elsewhere()
	f.remedy = x.listRemedy(len(listed) > 0)
	f.evidence = append(f.evidence, Evidence{Object: d.Object, Field: "listed addresses", Want: x.q.Address, Have: and(listed)})
	if former == nil {
		if pending, ok := x.pendingPod(); ok && len(listed) > 0 {
			f.why += "; " + pending.why
		}
	} else {
		f.why += "; " + x.before(former) + " until " + clock(when.Times.Seen)
		if former.Target != nil {
			_, gone := x.deleted(*former.Target)
			now := x.addressesNow(*former.Target)
			switch {
			case gone:
				f.remedy = "nothing is to be done if " + x.name(*former.Target) + " was meant to go"
			case len(now) > 0 && !slices.Contains(now, former.Address):
				f.remedy = "ask about " + and(now) + ", which " + x.name(*former.Target) + " has now"
			}
		}
		f.evidence = append(f.evidence, Evidence{Object: *former.Source, Field: "addresses", Want: x.q.Address, Have: "listed before"})
	}
	return f
}

// listRemedy says how the address would come to be listed, unless it is no endpoint's at
// all: that of the service itself, or of a gateway.
func (x *inquiry) listRemedy(others bool) string {
	d := x.imp.Definition
	_, gateway := x.gatewayAsked()
	switch {
	case others && (gateway || model.SameAddress(d.DefaultAddress, x.q.Address)):
		return "ask about an address that is listed"
	case x.callsPod():
		return "ask about an IP address"
	case d.Provider == model.ProviderExternal && len(d.Selector) > 0:
		return "label the workload that has the address with " + labelText(d.Selector) + ", in namespace " + d.Key.Namespace
	case d.Provider == model.ProviderKubernetes && len(d.Selector) > 0:
		return "wait for an EndpointSlice of " + x.name(d.Object) + " that lists it, or correct the selector (" + labelText(d.Selector) + ")"
	case d.Provider == model.ProviderKubernetes:
		return "list the address in an EndpointSlice with " + model.LabelServiceName + "=" + d.Name + ", as " + x.name(d.Object) + " has no selector"
	}
	return "add the address to " + x.name(d.Object)
}

// gatewayAsked is the gateway between networks that has the address asked about.
func (x *inquiry) gatewayAsked() (state.Gateway, bool) {
	for _, g := range x.snap.Gateways() {
		if model.SameAddress(g.Addr, x.q.Address) {
			return g, true
		}
	}
	return state.Gateway{}, false
}

// addressesNow are those of a Pod or WorkloadEntry as it is.
func (x *inquiry) addressesNow(key model.ObjectKey) []string {
	if pod := x.pod(&key); pod != nil {
		return podIPs(pod)
	}
	if e := config[*networkingv1.WorkloadEntry](x, &key); e != nil && e.Spec.GetAddress() != "" {
		return []string{e.Spec.GetAddress()}
	}
	return nil
}

// elsewhere says what has the address all the same: the Service itself, a gateway, a
// slice of a Service, Endpoints of another name, a Pod.
func (x *inquiry) elsewhere() string {
	if d := x.imp.Definition; model.SameAddress(d.DefaultAddress, x.q.Address) {
		return "; it is the address of " + x.name(d.Object) + " itself, behind which the endpoints are"
	}
	if g, ok := x.gatewayAsked(); ok {
		return "; it is the gateway of " + networkText(g.Network) + " (the proxy is in " + networkText(x.proxy.Network) + "), which stands for no endpoint here"
	}
	if x.callsPod() {
		return "; " + x.calledSo()
	}
	if x.imp.Definition.Provider == model.ProviderExternal {
		for _, o := range x.slicesWith() {
			return "; " + x.name(*o.candidate.Source) + " lists it, and slices count for Services only"
		}
		for _, key := range x.podsWith() {
			return "; it is that of " + x.name(key) + ", and the entry selects no workloads"
		}
	}
	if other := x.serviceWithAddress(); other != "" {
		return "; " + x.name(*x.slicesWith()[0].candidate.Source) + " lists it for another service, " + other
	}
	for _, key := range x.endpointsWith() {
		return "; the legacy " + x.name(key) + " lists it, and Endpoints are not read"
	}
	for _, c := range x.service.Candidates() {
		if c.Address == "" && x.pod(c.Source) == nil {
			return "; " + x.name(*c.Source) + ", which it selects, has no address"
		}
	}
	return ""
}

// calledSo says of a name that it is no address, and which Pods are called so.
func (x *inquiry) calledSo() string {
	text := x.q.Address + " is no IP address"
	switch pods := x.podsCalled(x.q.Address); len(pods) {
	case 0:
		return text
	case 1:
		return text + ", and " + x.name(pods[0]) + ", which is called so, has none"
	default:
		return text + ", and " + x.names(pods) + " are called so"
	}
}

// before says whose the address was.
func (x *inquiry) before(c *model.Candidate) string {
	text := x.name(*c.Source) + " listed it"
	if c.Target == nil {
		return text
	}
	if *c.Target == *c.Source {
		text = "the address was that of " + x.name(*c.Target)
	} else {
		text += " for " + x.name(*c.Target)
	}
	_, gone := x.deleted(*c.Target)
	now := x.addressesNow(*c.Target)
	switch {
	case gone:
		text += ", which was deleted,"
	case len(now) > 0 && !slices.Contains(now, c.Address):
		text += ", which now has " + strings.Join(now, ", ") + ","
	}
	return text
}

// empty says why a service has no candidate at all.
func (x *inquiry) empty() finding {
	d := x.imp.Definition
	if f, ok := x.emptyForReason(); ok {
		return f
	}
	f := finding{
		cause: NoSource, step: StepSource, object: d.Object,
		why:    "no slice, no selected workload and no endpoint of its own offers an address for " + x.name(d.Object),
		remedy: "create a slice with " + model.LabelServiceName + "=" + d.Name,
	}
	switch {
	case len(d.Selector) > 0:
		f.why += " (selector " + labelText(d.Selector) + ")"
		f.remedy = "create Pods that match the selector of " + x.name(d.Object)
		if d.Provider == model.ProviderExternal {
			f.remedy = "create Pods or WorkloadEntries in namespace " + d.Key.Namespace + " that match the selector of " + x.name(d.Object)
		}
	case d.Provider == model.ProviderExternal && d.Resolution == model.Passthrough:
		f.cause = ResolutionNone
		f.why += ", which has resolution: NONE, and a gateway cannot send requests to the address that the client asked for"
		f.remedy = "set the resolution of " + x.name(d.Object) + " to STATIC or DNS, with endpoints"
	case d.Provider == model.ProviderExternal:
		f.why += ", which has neither endpoints nor a workloadSelector"
		f.remedy = "give " + x.name(d.Object) + " endpoints or a workloadSelector"
	default:
		f.why += ", which has no selector"
	}
	pod, labels := x.nearlySelected()
	switch {
	case pod.Name == "":
		if far := x.selectedElsewhere(); far.Name != "" {
			f.why += "; " + x.name(far) + " has these labels and is in namespace " + far.Namespace + ", and only workloads of namespace " + d.Key.Namespace + " are selected"
			f = f.with(Evidence{Object: far, Field: "metadata.namespace", Want: d.Key.Namespace, Have: far.Namespace})
		}
	case d.Selector.SubsetOf(labels):
		f.why += "; " + x.nearly(pod, labels)
		f.remedy = "wait for the EndpointSlice controller, or look at it"
		if off := x.switchedOff(pod.Kind); off != "" {
			f.remedy = "switch " + off + " on"
		}
	default:
		f.why += "; " + x.nearly(pod, labels)
		f.remedy = "correct the selector of " + x.name(d.Object) + ", or the labels of " + x.name(pod)
		f = f.with(Evidence{Object: pod, Field: "metadata.labels", Want: labelText(d.Selector), Have: labelText(labels)})
	}
	if c, t := x.former(d.Key); c != nil {
		f.why += "; the last address was " + c.Address + " (" + x.name(*c.Source) + "), until " + clock(t.Times.Seen)
	}
	return f.with(Evidence{Object: d.Object, Field: "spec.selector", Have: labelText(d.Selector)})
}

// emptyForReason looks at what is there and does not count: legacy Endpoints of the
// service, a slice whose label comes close or is missing, a Pod that has no address.
func (x *inquiry) emptyForReason() (finding, bool) {
	d := x.imp.Definition
	if d.Provider != model.ProviderKubernetes {
		return x.pendingPod()
	}
	key := model.ObjectKey{Cluster: d.Object.Cluster, Kind: model.KindEndpoints, Namespace: d.Key.Namespace, Name: d.Name}
	if e, ok := x.object(key).(*corev1.Endpoints); ok && len(endpointAddresses(e)) > 0 { //nolint:staticcheck // read to say that they are ignored
		return x.sliceKindIgnored(key), true
	}
	if !x.allowed(d.Key.Namespace) {
		return finding{}, false
	}
	for svc := range x.snap.Services() {
		label, _, _ := strings.Cut(string(svc.Key.Hostname), ".")
		if svc.Key.Namespace != d.Key.Namespace || svc.Definition() != nil || !similar(label, d.Name) {
			continue // nothing like it
		}
		for _, c := range svc.Candidates() {
			return x.wrongServiceName(offer{c, svc.Key}), true
		}
	}
	for chunk := range x.snap.Strays() {
		for _, c := range chunk.Candidates {
			if pod := x.pod(c.Target); pod != nil && c.Reason == model.ReasonNoServiceName && c.Source.Namespace == d.Key.Namespace && x.selects(model.KindPod, pod.Namespace, pod.Labels) {
				return x.noServiceName(c), true
			}
		}
	}
	return x.pendingPod()
}

// nearly says how close the Pod comes to the selector.
func (x *inquiry) nearly(pod model.ObjectKey, labels model.Labels) string {
	wrong := unmatched(x.imp.Definition.Selector, labels)
	if off := x.switchedOff(pod.Kind); len(wrong) == 0 && off != "" {
		return x.name(pod) + " matches it, but " + off + " is off: it selects no " + string(pod.Kind)
	}
	if len(wrong) == 0 {
		return x.name(pod) + " matches it, so the EndpointSlice is missing or late"
	}
	return x.name(pod) + " comes close: it has " + strings.Join(wrong, ", ")
}

// Nearly says which Pod comes close to what a service selects, and how close; "" if
// none does. All objects are looked at.
func (e *Explainer) Nearly(snap *state.Snapshot, key model.ServiceKey, may May) string {
	d := snap.Service(key).Definition()
	if d == nil {
		return ""
	}
	x := e.inquiry(snap, may)
	x.imp = &scope.Import{Definition: d}
	pod, labels := x.nearlySelected()
	if pod.Name == "" {
		return ""
	}
	return x.nearly(pod, labels)
}

// nearlySelected is the Pod or WorkloadEntry in the service's namespace whose labels come
// closest to the selector, the first by name of several, with those of its labels that
// the selector asks for; zero if none comes close.
func (x *inquiry) nearlySelected() (model.ObjectKey, model.Labels) {
	d := x.imp.Definition
	var best model.ObjectKey
	var have model.Labels
	most := 0
	if x.opts.Objects == nil || len(d.Selector) == 0 || !x.allowed(d.Key.Namespace) {
		return best, nil
	}
	for key, o := range x.opts.Objects.All() {
		labels, ok := workloadLabels(o)
		if !ok || key.Namespace != d.Key.Namespace {
			continue // not to be selected
		}
		score := closeness(d.Selector, labels)
		if score == 0 || score < most || (score == most && key.Compare(best) > 0) {
			continue // no better
		}
		best, have, most = key, model.Labels{}, score
		for k := range d.Selector {
			if v, ok := labels[k]; ok {
				have[k] = v
			}
		}
	}
	return best, have
}

// selectedElsewhere is a workload that only its namespace keeps from being selected,
// the first of several; zero if there is none.
func (x *inquiry) selectedElsewhere() (first model.ObjectKey) {
	d := x.imp.Definition
	if x.opts.Objects == nil || len(d.Selector) == 0 {
		return first
	}
	for key, o := range x.opts.Objects.All() {
		labels, ok := workloadLabels(o)
		if !ok || key.Namespace == d.Key.Namespace || !d.Selector.SubsetOf(labels) || !x.allowed(key.Namespace) {
			continue // not what is sought
		}
		if first.Name == "" || key.Compare(first) < 0 {
			first = key
		}
	}
	return first
}

// workloadLabels are the labels by which a Pod or WorkloadEntry is selected.
func workloadLabels(o source.Object) (model.Labels, bool) {
	switch v := o.(type) {
	case *networkingv1.WorkloadEntry:
		return registry.EntryLabels(v), true
	case *corev1.Pod:
		return v.Labels, true
	}
	return nil, false
}

// closeness counts how much labels are as a selector wants them: equal ones count
// most, then those that differ in few letters.
func closeness(selector, labels model.Labels) (score int) {
	for k, want := range selector {
		switch have, ok := labels[k]; {
		case ok && have == want:
			score += 3
		case ok && similar(have, want):
			score++
		}
	}
	return score
}
