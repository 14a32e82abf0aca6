package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

const (
	// controllerMaximum is how many endpoints Kubernetes' controllers put into one
	// slice unless told otherwise, and apiMaximum how many the API server takes.
	controllerMaximum = 100
	apiMaximum        = 1000
	// lagLimit is how long a controller may take to write a slice.
	lagLimit = 5 * time.Second
	// nativeController writes the slices of Services with selectors.
	nativeController = "endpointslice-controller.k8s.io"
	// controllerManager is what runs the controllers.
	controllerManager = "kube-controller-manager"
)

// sliceGroup is the slices of one shard.
type sliceGroup struct {
	managers map[string]model.ObjectKey // the first slice of each
	shapes   map[string]*shape
	order    []string
}

// shape is the slices with the same ports and family of addresses, which one
// slice could hold together as long as it is not full.
type shape struct {
	slices, endpoints int
	first             model.ObjectKey
}

func (g *sliceGroup) add(chunk *state.Chunk, slice *discoveryv1.EndpointSlice) {
	if slice == nil {
		return
	}
	if g.managers == nil {
		g.managers, g.shapes = map[string]model.ObjectKey{}, map[string]*shape{}
	}
	manager := slice.Labels[discoveryv1.LabelManagedBy]
	if _, ok := g.managers[manager]; !ok {
		g.managers[manager] = chunk.Source
	}
	id := manager + " " + string(slice.AddressType) + portsText(slice.Ports)
	one := g.shapes[id]
	if one == nil {
		one = &shape{first: chunk.Source}
		g.shapes[id] = one
		g.order = append(g.order, id)
	}
	one.slices++
	one.endpoints += len(slice.Endpoints)
}

// judge looks at the slices of a shard together.
func (g *sliceGroup) judge(a *sliceAudit, svc *state.ServiceState) {
	if len(g.managers) > 1 {
		names := slices.Sorted(maps.Keys(g.managers))
		at := g.managers[names[slices.IndexFunc(names, func(n string) bool { return n != nativeController })]]
		for i, n := range names {
			if n == "" {
				names[i] = "nobody (no " + discoveryv1.LabelManagedBy + ")"
			}
		}
		a.add(MixedManagers, svc, Problem{
			Object: at, Field: "metadata.labels[" + discoveryv1.LabelManagedBy + "]",
			Message: "the slices of the Service are managed by " + strings.Join(names, " and by ") + "; their addresses are joined",
			Remedy:  "give the Service a selector, or Endpoints, or slices written by hand: one of them",
		}, time.Time{})
	}
	for _, id := range g.order {
		one := g.shapes[id]
		if needed := (one.endpoints + controllerMaximum - 1) / controllerMaximum; one.slices > 2*max(needed, 1) {
			a.add(Fragmented, svc, Problem{
				Object:  one.first,
				Message: fmt.Sprintf("%d endpoints are in %d slices like this one; %d would do", one.endpoints, one.slices, max(needed, 1)),
				Remedy:  "nothing is lost by it; the controller fills slices up as Pods come, a restart of the Deployment does it at once",
			}, time.Time{})
		}
	}
}

func portsText(ports []discoveryv1.EndpointPort) string {
	var b strings.Builder
	for i := range ports {
		p := &ports[i]
		if p.Name != nil {
			b.WriteString(" " + *p.Name)
		}
		if p.Port != nil {
			fmt.Fprintf(&b, ":%d", *p.Port)
		}
		if p.Protocol != nil && *p.Protocol != corev1.ProtocolTCP {
			b.WriteString(string(*p.Protocol))
		}
	}
	return b.String()
}

func (a *sliceAudit) size(svc *state.ServiceState, key model.ObjectKey, slice *discoveryv1.EndpointSlice) {
	n := len(slice.Endpoints)
	p := Problem{Object: key, Field: "endpoints"}
	switch native := slice.Labels[discoveryv1.LabelManagedBy] == nativeController; {
	case n > apiMaximum:
		p.Message = fmt.Sprintf("it has %d endpoints; an API server takes at most %d", n, apiMaximum)
		p.Remedy = "spread them over several slices"
	case native && n > controllerMaximum:
		p.Message = fmt.Sprintf("it has %d endpoints; the controller puts at most %d into a slice unless told otherwise", n, controllerMaximum)
		p.Remedy = "see whether the controller's --max-endpoints-per-slice is meant to be higher; each change sends the whole slice to every watcher"
	default:
		return
	}
	a.add(OverMaximum, svc, p, time.Time{})
}

// hints finds hints that nobody can follow: some endpoints without, or endpoints
// that say no zone.
func (a *sliceAudit) hints(svc *state.ServiceState, key model.ObjectKey, slice *discoveryv1.EndpointSlice) {
	hinted, zoneless := 0, 0
	for i := range slice.Endpoints {
		e := &slice.Endpoints[i]
		if e.Hints == nil || len(e.Hints.ForZones) == 0 {
			continue
		}
		hinted++
		if e.Zone == nil || *e.Zone == "" {
			zoneless++
		}
	}
	p := Problem{Object: key, Field: "endpoints[].hints", Remedy: "see whether every Node has the label " + corev1.LabelTopologyZone}
	switch all := len(slice.Endpoints); {
	case zoneless > 0:
		p.Field, p.Message = "endpoints[].zone", fmt.Sprintf("%d of %d endpoints with hints name no zone of their own", zoneless, hinted)
	case hinted > 0 && hinted < all:
		p.Message = fmt.Sprintf("%d of %d endpoints have no hint, so that kube-proxy follows none of them", all-hinted, all)
	default:
		return
	}
	a.add(IdleHints, svc, p, time.Time{})
}

// lag compares when the change happened that the controller noted with when it
// wrote the slice.
func (a *sliceAudit) lag(svc *state.ServiceState, key model.ObjectKey, slice *discoveryv1.EndpointSlice) {
	trigger, err := time.Parse(time.RFC3339Nano, slice.Annotations[corev1.EndpointsLastChangeTriggerTime])
	if err != nil {
		return // the controller does not say
	}
	for i := range slice.ManagedFields {
		f := &slice.ManagedFields[i]
		if f.Manager != controllerManager || f.Time == nil || f.Time.Sub(trigger) < lagLimit {
			continue // in time, or somebody else's change
		}
		a.add(ControllerLag, svc, Problem{
			Object: key, Field: "metadata.annotations[" + corev1.EndpointsLastChangeTriggerTime + "]",
			Message: fmt.Sprintf("%s wrote it %s after the change of %s", f.Manager, f.Time.Sub(trigger).Round(time.Second), trigger.UTC().Format("2006-01-02 15:04:05 UTC")),
			Remedy:  "see whether kube-controller-manager is short of CPU or throttled",
		}, f.Time.Time)
		return
	}
}
