package explain

import (
	"maps"
	"strings"

	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
)

// missing says why the service in use does not know the address at all.
func (x *inquiry) missing() finding {
	if x.q.Address == "" {
		return x.empty()
	}
	for _, try := range []func() (finding, bool){
		x.inOtherSlice, x.inEndpoints, x.otherEntry, x.otherPod, x.nowWithout, x.pendingPod, x.withoutAddress,
	} {
		if f, ok := try(); ok {
			return f
		}
	}
	return x.noSource()
}

// inOtherSlice looks at slices that list the address for no service, or for
// another one; those in the service's namespace first.
func (x *inquiry) inOtherSlice() (finding, bool) {
	d := x.imp.Definition
	list := x.look().slices
	best := -1
	for i, o := range list {
		if best < 0 || (o.candidate.Source.Namespace == d.Key.Namespace && list[best].candidate.Source.Namespace != d.Key.Namespace) {
			best = i
		}
	}
	if best < 0 {
		return finding{}, false
	}
	o := list[best]
	if o.service.Hostname == "" {
		return x.noServiceName(o.candidate), true
	}
	if pod := x.pod(o.candidate.Target); pod != nil && len(d.Selector) > 0 && !x.selects(pod.Namespace, pod.Labels) && x.snap.Service(o.service).Definition() != nil {
		return x.notSelected(*o.candidate.Target, pod.Labels), true
	}
	return x.wrongServiceName(o), true
}

func (x *inquiry) noServiceName(c *model.Candidate) finding {
	d := x.imp.Definition
	return finding{
		cause: NoServiceName, step: StepSource, object: *c.Source,
		why:    x.name(*c.Source) + " lists " + x.q.Address + " and has no label " + model.LabelServiceName + ", so it belongs to no service, nor to " + x.name(d.Object),
		remedy: "label " + x.name(*c.Source) + " with " + model.LabelServiceName + "=" + d.Name,
		evidence: []Evidence{
			{Object: *c.Source, Field: "metadata.labels[" + model.LabelServiceName + "]", Want: d.Name, Have: "absent"},
		},
	}
}

func (x *inquiry) wrongServiceName(o offer) finding {
	d, c := x.imp.Definition, o.candidate
	label, _, _ := strings.Cut(string(o.service.Hostname), ".")
	f := finding{
		cause: WrongServiceName, step: StepSource, object: *c.Source,
		why:    x.name(*c.Source) + " lists " + c.Address + " with " + model.LabelServiceName + "=" + label + ", and not " + d.Name + " as " + x.name(d.Object) + " would need",
		remedy: "set " + model.LabelServiceName + " of " + x.name(*c.Source) + " to " + d.Name,
		evidence: []Evidence{
			{Object: *c.Source, Field: "metadata.labels[" + model.LabelServiceName + "]", Want: d.Name, Have: label},
		},
	}
	switch {
	case c.Source.Namespace != d.Key.Namespace:
		f.why += "; it is in namespace " + c.Source.Namespace + ", and a slice counts for Services of its own namespace only"
		f.remedy = "create the slice in namespace " + d.Key.Namespace + ", with " + model.LabelServiceName + "=" + d.Name
	case x.snap.Service(o.service).Definition() == nil:
		f.why += "; there is no Service " + c.Source.Namespace + "/" + label
	}
	return f
}

// inEndpoints looks at legacy Endpoints, which are not read.
func (x *inquiry) inEndpoints() (finding, bool) {
	for _, key := range x.lookAll().endpoints {
		if key.Namespace != x.imp.Definition.Key.Namespace || key.Name != x.imp.Definition.Name {
			continue
		}
		return finding{
			cause: SliceKindIgnored, step: StepSource, object: key,
			why: "only the legacy " + x.name(key) + " lists " + x.q.Address + " for " + x.name(x.imp.Definition.Object) +
				", and Endpoints are not read: only an EndpointSlice counts",
			remedy:   "create an EndpointSlice with " + model.LabelServiceName + "=" + x.imp.Definition.Name + ", or let the mirroring controller do so",
			evidence: []Evidence{{Object: key, Field: "kind", Want: string(model.KindEndpointSlice), Have: string(model.KindEndpoints)}},
		}, true
	}
	return finding{}, false
}

// otherEntry looks at WorkloadEntries with the address.
func (x *inquiry) otherEntry() (finding, bool) {
	for _, key := range x.look().entries {
		e := config[*networkingv1.WorkloadEntry](x, &key)
		if e == nil {
			continue
		}
		labels := model.Labels{}
		maps.Copy(labels, e.Spec.GetLabels())
		maps.Copy(labels, e.Labels)
		if !x.selects(key.Namespace, labels) || x.inOtherCluster(key) {
			return x.notSelected(key, labels), true
		}
	}
	return finding{}, false
}

// inOtherCluster tells whether the WorkloadEntry is in a cluster without the
// Service.
func (x *inquiry) inOtherCluster(key model.ObjectKey) bool {
	d := x.imp.Definition
	return key.Kind == model.KindWorkloadEntry && d.Provider == model.ProviderKubernetes && d.In(key.Cluster) == nil
}

// otherPod looks at Pods with the address.
func (x *inquiry) otherPod() (finding, bool) {
	for _, key := range x.lookAll().pods {
		pod := x.pod(&key)
		switch {
		case pod == nil:
			continue
		case !x.selects(key.Namespace, pod.Labels):
			return x.notSelected(key, pod.Labels), true
		case finished(pod):
			return x.podFinished(key, phaseText(pod)), true
		}
		f := x.noSource()
		f.why += "; " + x.name(key) + " has the address and matches the selector, so the EndpointSlice is missing or late"
		f.remedy = "wait for the EndpointSlice controller to list it, or look at that controller"
		return f, true
	}
	return finding{}, false
}

// notSelected says by which label, or by which namespace, a workload is not one
// of the service's.
func (x *inquiry) notSelected(key model.ObjectKey, labels model.Labels) finding {
	d := x.imp.Definition
	f := finding{cause: WorkloadNotSelected, step: StepWorkload, object: key}
	f.evidence = append(f.evidence, Evidence{Object: key, Field: "metadata.labels", Want: labelText(d.Selector), Have: labelText(labels)})
	wrong := unmatched(d.Selector, labels)
	what := x.name(key) + " has " + x.q.Address
	switch {
	case len(d.Selector) == 0:
		f.why = what + ", and " + x.name(d.Object) + " has no selector: it takes only what is listed for it"
		f.remedy = "list the address for " + x.name(d.Object) + ", or give it a selector"
	case key.Namespace != d.Key.Namespace:
		f.why = what + " and is in namespace " + key.Namespace + ", and " + x.name(d.Object) + " selects (" + labelText(d.Selector) + ") in its own namespace, " + d.Key.Namespace + ", only"
		f.remedy = "move the workload to namespace " + d.Key.Namespace + ", or define the service in " + key.Namespace
		if len(wrong) > 0 {
			f.why += "; it also lacks " + strings.Join(wrong, ", ")
		}
		f.evidence = append(f.evidence, Evidence{Object: key, Field: "metadata.namespace", Want: d.Key.Namespace, Have: key.Namespace})
	case len(wrong) > 0:
		f.why = what + ", and does not match the selector of " + x.name(d.Object) + ": it has " + strings.Join(wrong, ", ")
		f.remedy = "label the workload with " + labelText(d.Selector) + ", or change the selector of " + x.name(d.Object)
	case x.inOtherCluster(key):
		f.why = what + " and matches the selector of " + x.name(d.Object) + ", which cluster " + string(key.Cluster) + " does not have: a Service selects the WorkloadEntries of its own cluster only"
		f.remedy = "create the Service in cluster " + string(key.Cluster) + " too, or the WorkloadEntry where the Service is"
		f.evidence = append(f.evidence, Evidence{Object: key, Field: "cluster", Want: string(d.Object.Cluster), Have: string(key.Cluster)})
	default:
		f.why = what + " and matches the selector of " + x.name(d.Object) + ", which did not take it in"
		f.remedy = "look at whether its address can be used"
	}
	return f
}

// unmatched lists where labels are not as the selector wants them.
func unmatched(selector, labels model.Labels) []string {
	var out []string
	for pair := range strings.SplitSeq(labelText(selector), ", ") {
		k, want, ok := strings.Cut(pair, "=")
		if !ok {
			continue // no labels are wanted
		}
		switch have, there := labels[k]; {
		case !there:
			out = append(out, "no label "+k+" (wanted "+k+"="+want+")")
		case have != want:
			out = append(out, k+"="+have+" (wanted "+k+"="+want+")")
		}
	}
	return out
}

// nowWithout looks at what had the address before: a Pod that has finished, lost
// its IP or its labels.
func (x *inquiry) nowWithout() (finding, bool) {
	c, _ := x.former(x.imp.Definition.Key)
	if c == nil || c.Target == nil {
		return finding{}, false
	}
	pod := x.pod(c.Target)
	switch {
	case pod == nil:
		return finding{}, false
	case finished(pod):
		return x.podFinished(*c.Target, phaseText(pod)), true
	case len(podIPs(pod)) == 0:
		return x.podWithoutIP(*c.Target), true
	case !x.selects(pod.Namespace, pod.Labels) && len(x.imp.Definition.Selector) > 0:
		return x.notSelected(*c.Target, pod.Labels), true
	}
	return finding{}, false
}

// pendingPod looks at Pods that the service selects and that cannot be listed.
func (x *inquiry) pendingPod() (finding, bool) {
	for _, key := range x.lookAll().pending {
		pod := x.pod(&key)
		switch {
		case pod == nil:
			continue
		case finished(pod):
			return x.podFinished(key, phaseText(pod)), true
		}
		return x.podWithoutIP(key), true
	}
	return finding{}, false
}

// withoutAddress looks at candidates of the service which have no address.
func (x *inquiry) withoutAddress() (finding, bool) {
	for i, c := range x.service.Candidates() {
		if c.Address != "" || c.PortName != x.cluster.Port.Name {
			continue
		}
		x.candidate, x.index, x.reason = c, i, x.assignment.Reasons[i]
		if x.reason == model.ReasonNone || x.reason == model.ReasonReplacedByGateway {
			x.candidate, x.index, x.reason = nil, -1, model.ReasonNone
			continue
		}
		return x.rejected(), true
	}
	return finding{}, false
}

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
		why: "nothing lists " + x.q.Address + " for " + x.name(d.Object) + " (no slice, no selected workload, no endpoint of its own); " + have + " listed for it",
	}
	f.remedy = "add the address to " + x.name(d.Object)
	switch {
	case d.Provider == model.ProviderExternal && len(d.Selector) > 0:
		f.remedy = "label the workload that has the address with " + labelText(d.Selector) + ", in namespace " + d.Key.Namespace
	case d.Provider == model.ProviderKubernetes:
		f.remedy = "wait for an EndpointSlice of " + x.name(d.Object) + " that lists it, or correct the selector (" + labelText(d.Selector) + ")"
	}
	f.evidence = append(f.evidence, Evidence{Object: d.Object, Field: "listed addresses", Want: x.q.Address, Have: and(listed)})
	if c, t := x.former(d.Key); c != nil {
		f.why += "; " + x.before(c) + " until " + t.Times.Seen.UTC().Format("15:04:05")
		f.evidence = append(f.evidence, Evidence{Object: *c.Source, Field: "addresses", Want: x.q.Address, Have: "listed before"})
	}
	return f
}

// before says whose the address was.
func (x *inquiry) before(c *model.Candidate) string {
	text := x.name(*c.Source) + " listed it"
	if c.Target == nil {
		return text
	}
	if *c.Target == *c.Source {
		text = "it was that of " + x.name(*c.Target)
	} else {
		text += " for " + x.name(*c.Target)
	}
	pod := x.pod(c.Target)
	_, gone := x.deleted(*c.Target)
	switch {
	case gone:
		text += ", which was deleted,"
	case pod != nil && !hasIP(pod, c.Address) && len(podIPs(pod)) > 0:
		text += ", which now has " + strings.Join(podIPs(pod), ", ") + ","
	}
	return text
}

// empty says why a service has no candidate at all.
func (x *inquiry) empty() finding {
	d := x.imp.Definition
	f := finding{
		cause: NoSource, step: StepSource, object: d.Object,
		why:    "no slice, no selected workload and no endpoint of its own offers an address for " + x.name(d.Object) + " (selector " + labelText(d.Selector) + ")",
		remedy: "create Pods that match the selector of " + x.name(d.Object) + ", or a slice with " + model.LabelServiceName + "=" + d.Name,
	}
	for svc := range x.snap.Services() {
		near := svc.Key.Namespace == d.Key.Namespace && svc.Definition() == nil && svc.CandidateCount() > 0
		if label, _, _ := strings.Cut(string(svc.Key.Hostname), "."); near && similar(label, d.Name) {
			for _, c := range svc.Candidates() {
				return x.wrongServiceName(offer{c, svc.Key})
			}
		}
	}
	pod, labels := x.nearlySelected()
	switch {
	case pod.Name == "":
	case d.Selector.SubsetOf(labels):
		f.why += "; " + x.name(pod) + " matches it, so the EndpointSlice is missing or late"
		f.remedy = "wait for the EndpointSlice controller, or look at it"
	default:
		f.why += "; " + x.name(pod) + " comes close with " + labelText(labels)
		f.remedy = "correct the selector of " + x.name(d.Object) + ", or the labels of " + x.name(pod)
		f = f.with(Evidence{Object: pod, Field: "metadata.labels", Want: labelText(d.Selector), Have: labelText(labels)})
	}
	return f.with(Evidence{Object: d.Object, Field: "spec.selector", Have: labelText(d.Selector)})
}

// nearlySelected is the first Pod by name, in the service's namespace, whose labels
// are not quite those of the selector, with these labels.
func (x *inquiry) nearlySelected() (model.ObjectKey, model.Labels) {
	d := x.imp.Definition
	var best model.ObjectKey
	var have model.Labels
	if x.opts.Objects == nil || len(d.Selector) == 0 || !x.allowed(d.Key.Namespace) {
		return best, nil
	}
	for key, o := range x.opts.Objects.All() {
		if key.Kind != model.KindPod || key.Namespace != d.Key.Namespace || (best.Name != "" && key.Compare(best) > 0) {
			continue // no better
		}
		labels, near := model.Labels{}, true
		for k, want := range d.Selector {
			labels[k] = o.GetLabels()[k]
			near = near && similar(labels[k], want)
		}
		if near {
			best, have = key, labels // the first by name
		}
	}
	return best, have
}

// similar tells whether two names differ in few letters: one is got from the other
// by at most two changes, additions or removals.
func similar(a, b string) bool {
	const most = 2
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(prev[j]+cost, prev[j+1]+1, next[j]+1)
		}
		prev = next
	}
	return prev[len(b)] <= most && max(len(a), len(b)) > most
}
