package explain

import (
	"slices"
	"strings"

	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
)

// The controllers of Kubernetes that write slices: of what a Service selects, and out
// of legacy Endpoints.
const (
	nativeController    = "endpointslice-controller.k8s.io"
	mirroringController = "endpointslicemirroring-controller.k8s.io"
)

// podOfAnotherIP tells of a slice that lists an address which its Pod does not
// have (any more).
func (x *inquiry) podOfAnotherIP() (finding, bool) {
	c := x.candidate
	pod := x.pod(c.Target)
	if pod == nil || c.Source.Kind != model.KindEndpointSlice {
		return finding{}, false
	}
	has := hasIP(pod, c.Address)
	if has && !registry.Finished(pod) {
		return finding{}, false
	}
	have := strings.Join(podIPs(pod), ", ")
	f := finding{
		cause: PodIPDiffers, step: StepWorkload, object: *c.Source,
		why:      x.name(*c.Source) + " lists " + c.Address + " for " + x.name(*c.Target) + ", whose IP is " + orNone(have),
		remedy:   "wait for the EndpointSlice controller to update " + x.name(*c.Source) + ", or correct it",
		evidence: []Evidence{{Object: *c.Target, Field: "status.podIPs", Want: c.Address, Have: have}},
	}
	if len(x.imp.Definition.Selector) == 0 {
		f.remedy = "correct " + x.name(*c.Source)
	}
	for _, other := range x.podsWith() {
		if other == *c.Target || other.Cluster != c.Target.Cluster {
			continue
		}
		f.cause = IPReused
		f.why += "; the address now belongs to " + x.name(other)
		return f.with(Evidence{Object: other, Field: "status.podIPs", Have: c.Address}), true
	}
	return f, !has
}

// mirrored tells of a slice made from legacy Endpoints that nobody maintains.
func (x *inquiry) mirrored() (finding, bool) {
	c, d := x.candidate, x.imp.Definition
	s := x.slice(c.Source)
	if s == nil || s.Labels[discoveryv1.LabelManagedBy] != mirroringController {
		return finding{}, false
	}
	key := model.ObjectKey{Cluster: c.Source.Cluster, Kind: model.KindEndpoints, Namespace: c.Source.Namespace, Name: d.Name}
	f := finding{
		cause: StaleMirroredSlice, step: StepSource, object: *c.Source,
		remedy:   "delete " + x.name(*c.Source) + ", or correct " + x.name(key),
		evidence: []Evidence{{Object: *c.Source, Field: discoveryv1.LabelManagedBy, Have: mirroringController}},
	}
	f.why = x.name(*c.Source) + " is a mirrored slice (" + discoveryv1.LabelManagedBy + "=" + mirroringController + "), made from Endpoints, and "
	_, gone := x.deleted(key)
	known := x.object(key) != nil
	switch {
	case len(d.Selector) > 0:
		f.why += x.name(d.Object) + " has a selector (" + labelText(d.Selector) + ") now, so nobody maintains it and it is stale"
		f.remedy = "delete " + x.name(*c.Source)
	case slices.Contains(x.endpointsWith(), key):
		return finding{}, false
	case known:
		f.why += x.name(key) + " does not list " + c.Address + " (any more): it is stale"
	case gone:
		f.why += x.name(key) + " was deleted: it is stale"
	case len(x.objects.with(x.opts, model.KindEndpoints, anyAddress)) > 0:
		f.why += "there is no " + x.name(key) + ": it is stale"
	default:
		f.cause = NothingWrong
		f.why += "it is stale unless " + x.name(key) + " still lists " + c.Address
		f.remedy = "delete " + x.name(*c.Source) + " if it does not"
	}
	return f, true
}

// abandoned tells of a slice of what a Service selected, when it selects that not any more.
func (x *inquiry) abandoned() (finding, bool) {
	c, d := x.candidate, x.imp.Definition.In(x.shard.Cluster)
	s := x.slice(c.Source)
	if s == nil || s.Labels[discoveryv1.LabelManagedBy] != nativeController {
		return finding{}, false
	}
	if d == nil {
		return finding{
			cause: NothingWrong, step: StepSource, object: *c.Source,
			why:      "cluster " + string(c.Source.Cluster) + " has no Service of that name (any more), so nobody maintains " + x.name(*c.Source),
			remedy:   "delete " + x.name(*c.Source) + ", or create the Service in cluster " + string(c.Source.Cluster) + " too",
			evidence: []Evidence{{Object: *c.Source, Field: "Service in its cluster", Want: x.imp.Definition.Name, Have: "absent"}},
		}, true
	}
	if pod := x.pod(c.Target); pod != nil && len(d.Selector) > 0 {
		return finding{
			cause: NothingWrong, step: StepSource, object: *c.Source,
			why:      x.name(*c.Target) + " does not match the selector of " + x.name(d.Object) + " (any more): it has " + and(unmatched(d.Selector, pod.Labels)) + "; only the slice counts",
			remedy:   "wait for the EndpointSlice controller to take it out of " + x.name(*c.Source) + ", or label " + x.name(*c.Target) + " with " + labelText(d.Selector),
			evidence: []Evidence{{Object: *c.Target, Field: "metadata.labels", Want: labelText(d.Selector), Have: labelText(pod.Labels)}},
		}, !d.Selector.SubsetOf(pod.Labels)
	}
	if len(d.Selector) > 0 {
		return finding{}, false
	}
	return finding{
		cause: NothingWrong, step: StepSource, object: *c.Source,
		why: x.name(*c.Source) + " was made of what a selector selects (" + discoveryv1.LabelManagedBy + "=" + nativeController + "), and " +
			x.name(d.Object) + " has none, so nobody maintains it",
		remedy:   "delete " + x.name(*c.Source) + " if its addresses should go, or give " + x.name(d.Object) + " its selector back",
		evidence: []Evidence{{Object: *c.Source, Field: discoveryv1.LabelManagedBy, Have: nativeController}},
	}, true
}
