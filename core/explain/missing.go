package explain

import (
	"cmp"
	"slices"
	"strings"

	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
)

// missing says why the service in use does not know the address at all.
func (x *inquiry) missing() finding {
	if x.q.Address == "" {
		return x.empty()
	}
	for _, try := range []func() (finding, bool){
		x.inOtherSlice, x.inEndpoints, x.otherEntry, x.otherPod, x.nowWithout, x.onlyPending, x.withoutAddress,
	} {
		if f, ok := try(); ok {
			return f
		}
	}
	return x.noSource()
}

// inOtherSlice looks at slices that list the address for no service, or for
// another one; those in the service's namespace first, and of these first the ones
// whose service does not exist. Slices count for Services only.
func (x *inquiry) inOtherSlice() (finding, bool) {
	d := x.imp.Definition
	list := x.slicesWith()
	if len(list) == 0 || d.Provider != model.ProviderKubernetes {
		return finding{}, false
	}
	o := slices.MinFunc(list, func(a, b offer) int { return cmp.Compare(x.distance(a), x.distance(b)) })
	pod := x.pod(o.candidate.Target)
	switch {
	case o.service.Hostname == "":
		return x.noServiceName(o.candidate), true
	case pod == nil || len(d.Selector) == 0 || !x.defined(o.service):
		return x.wrongServiceName(o), true
	case !x.selects(model.KindPod, pod.Namespace, pod.Labels):
		return x.notSelected(*o.candidate.Target, pod.Labels), true
	case x.selectedBy(o.service, pod):
		return finding{}, false // it is rightly in the other one, and one of this service is missing
	}
	return x.wrongServiceName(o), true
}

// selectedBy tells whether a service selects the Pod.
func (x *inquiry) selectedBy(key model.ServiceKey, pod *corev1.Pod) bool {
	selector := x.snap.Service(key).Definition().Selector
	return len(selector) > 0 && selector.SubsetOf(pod.Labels)
}

// distance tells how far an offer is from being one for the service in use.
func (x *inquiry) distance(o offer) (n int) {
	if o.candidate.Source.Namespace != x.imp.Definition.Key.Namespace {
		n += 2
	}
	if x.defined(o.service) {
		n++
	}
	return n
}

func (x *inquiry) defined(key model.ServiceKey) bool { return x.snap.Service(key).Definition() != nil }

func (x *inquiry) noServiceName(c *model.Candidate) finding {
	d := x.imp.Definition
	return finding{
		cause: NoServiceName, step: StepSource, object: *c.Source,
		why:    x.name(*c.Source) + " lists " + c.Address + " and has no label " + model.LabelServiceName + ", so it belongs to no service, nor to " + x.name(d.Object),
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
		why: x.name(*c.Source) + " lists " + c.Address + " with " + model.LabelServiceName + "=" + label,
		evidence: []Evidence{
			{Object: *c.Source, Field: "metadata.labels[" + model.LabelServiceName + "]", Want: d.Name, Have: label},
		},
	}
	if c.Source.Namespace != d.Key.Namespace {
		f.why += " in namespace " + c.Source.Namespace + ", and a slice counts for Services of its own namespace only: " + x.name(d.Object) + " is in " + d.Key.Namespace
		f.remedy = "create the slice in namespace " + d.Key.Namespace + ", with " + model.LabelServiceName + "=" + d.Name
		return f.with(Evidence{Object: *c.Source, Field: "metadata.namespace", Want: d.Key.Namespace, Have: c.Source.Namespace})
	}
	f.why += ", and not " + model.LabelServiceName + "=" + d.Name + " as " + x.name(d.Object) + " would need"
	f.remedy = "set " + model.LabelServiceName + " of " + x.name(*c.Source) + " to " + d.Name
	if pod := x.pod(c.Target); x.defined(o.service) && (pod == nil || !x.selects(model.KindPod, pod.Namespace, pod.Labels)) {
		f.remedy = "list the address in a slice with " + model.LabelServiceName + "=" + d.Name + " too, if it should serve both"
	}
	switch {
	case !x.defined(o.service):
		f.why += "; there is no Service " + c.Source.Namespace + "/" + label
	case c.Target != nil:
		f.why += "; " + x.name(*c.Target) + " is behind it"
	}
	return f
}

// inEndpoints looks at legacy Endpoints of the service, which are not read.
func (x *inquiry) inEndpoints() (finding, bool) {
	for _, key := range x.endpointsWith() {
		if key.Namespace == x.imp.Definition.Key.Namespace && key.Name == x.imp.Definition.Name {
			return x.sliceKindIgnored(key), true
		}
	}
	return finding{}, false
}

func (x *inquiry) sliceKindIgnored(key model.ObjectKey) finding {
	d := x.imp.Definition
	what := "addresses"
	if x.q.Address != "" {
		what = x.q.Address
	}
	return finding{
		cause: SliceKindIgnored, step: StepSource, object: key,
		why: "only the legacy " + x.name(key) + " lists " + what + " for " + x.name(d.Object) +
			", and Endpoints are not read: only an EndpointSlice counts",
		remedy:   "create an EndpointSlice with " + model.LabelServiceName + "=" + d.Name + ", or let the mirroring controller do so",
		evidence: []Evidence{{Object: key, Field: "kind", Want: string(model.KindEndpointSlice), Have: string(model.KindEndpoints)}},
	}
}

// otherEntry looks at WorkloadEntries with the address.
func (x *inquiry) otherEntry() (finding, bool) {
	for _, key := range x.entriesWith() {
		e := config[*networkingv1.WorkloadEntry](x, &key)
		if e == nil {
			continue
		}
		labels := registry.EntryLabels(e)
		if !x.selects(key.Kind, key.Namespace, labels) || x.inOtherCluster(key) {
			return x.notSelected(key, labels), true
		}
	}
	return finding{}, false
}

// inOtherCluster tells whether the workload is in a cluster without the Service.
func (x *inquiry) inOtherCluster(key model.ObjectKey) bool {
	d := x.imp.Definition
	return d.Provider == model.ProviderKubernetes && d.In(key.Cluster) == nil
}

// otherPod looks at Pods with the address, those that the service selects first: in
// several clusters there can be several.
func (x *inquiry) otherPod() (finding, bool) {
	keys := x.podsWith()
	slices.SortStableFunc(keys, func(a, b model.ObjectKey) int { return cmp.Compare(x.unlike(a), x.unlike(b)) })
	for _, key := range keys {
		pod := x.pod(&key)
		switch {
		case pod == nil:
			continue
		case !x.selects(model.KindPod, key.Namespace, pod.Labels):
			if len(x.imp.Definition.Selector) == 0 && x.imp.Definition.Provider == model.ProviderExternal {
				return finding{}, false // the entry has endpoints of its own
			}
			if c, _ := x.former(x.imp.Definition.Key); c != nil && c.Target != nil && *c.Target != key {
				f := x.noSource()
				f.why += "; now the address is that of " + x.name(key)
				return f.with(Evidence{Object: key, Field: "status.podIPs", Have: x.q.Address}), true
			}
			return x.notSelected(key, pod.Labels), true
		case registry.Finished(pod):
			return x.podFinished(key, phaseText(pod)), true
		}
		f := x.noSource()
		if x.inOtherCluster(key) {
			f.why += "; " + x.name(key) + " has the address and matches the selector, and cluster " + string(key.Cluster) + " has no such Service, so no slice lists it"
			f.remedy = "create the Service in cluster " + string(key.Cluster) + " too"
			return f, true
		}
		f.why += "; " + x.name(key) + " has the address and matches the selector, so the EndpointSlice is missing or late"
		f.remedy = "wait for the EndpointSlice controller to list it, or look at that controller"
		return f, true
	}
	return finding{}, false
}

// unlike tells how far a Pod is from being one of the service's.
func (x *inquiry) unlike(key model.ObjectKey) int {
	pod := x.pod(&key)
	switch {
	case pod != nil && x.selects(model.KindPod, key.Namespace, pod.Labels):
		return 0
	case key.Namespace == x.imp.Definition.Key.Namespace:
		return 1
	}
	return 2
}

// withoutAddress looks at candidates of the service which have no address, for which
// the gateway that is asked about could stand.
func (x *inquiry) withoutAddress() (finding, bool) {
	if _, ok := x.gatewayAsked(); !ok {
		return finding{}, false
	}
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
