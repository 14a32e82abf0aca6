package audit

import (
	"cmp"
	"slices"
	"strings"

	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// Problem is something in an object that has not the effect it seems to have.
type Problem struct {
	Object model.ObjectKey `json:"object"`
	// Hosts are the hostnames of the services that it is about, if it is about any.
	Hosts []model.Hostname `json:"hosts,omitempty"`
	// Field is the path of the field at fault.
	Field   string `json:"field"`
	Message string `json:"message"`
	// Remedy says what would cure it.
	Remedy string `json:"remedy"`
}

// Config finds the problems of the Istio objects and of the mesh configuration in
// force, by object, then field.
func Config(snap *state.Snapshot) []Problem {
	hosts, proxies := newHosts(snap), newProxies(snap)
	list := slices.Concat(
		sidecars(hosts, proxies), serviceEntries(snap), workloadEntries(snap), destinationRules(hosts), overlaidRules(snap),
		virtualServices(hosts), gateways(snap, proxies), peerAuthentications(snap, proxies), authorizationPolicies(snap, proxies),
		providers(snap), networks(snap), exportDefaults(snap),
	)
	slices.SortStableFunc(list, func(a, b Problem) int {
		if c := a.Object.Compare(b.Object); c != 0 {
			return c
		}
		return strings.Compare(a.Field, b.Field)
	})
	return list
}

// hosts finds services by what VirtualServices and DestinationRules call them.
type hosts struct {
	snap *state.Snapshot
	// names are the hostnames that are defined, in order.
	names []model.Hostname
}

func newHosts(snap *state.Snapshot) *hosts {
	h := &hosts{snap: snap}
	for svc := range snap.Services() {
		if svc.Definition() != nil && (len(h.names) == 0 || h.names[len(h.names)-1] != svc.Key.Hostname) {
			h.names = append(h.names, svc.Key.Hostname)
		}
	}
	return h
}

// defined tells whether a service has the hostname, or one that the wildcard
// covers or that, being a wildcard itself, covers it.
func (h *hosts) defined(host model.Hostname) bool {
	if _, ok := slices.BinarySearch(h.names, host); ok {
		return true
	}
	return slices.ContainsFunc(h.names, func(n model.Hostname) bool { return scope.Overlaps(host, n) })
}

// proxies are the labels of the proxies by namespace: of Pods, and of
// WorkloadEntries, behind which there may be one.
type proxies struct {
	sidecars, routers map[string][]model.Labels
}

func newProxies(snap *state.Snapshot) *proxies {
	p := &proxies{sidecars: map[string][]model.Labels{}, routers: map[string][]model.Labels{}}
	for x := range snap.Proxies() {
		of := p.sidecars
		if x.Type == model.Router {
			of = p.routers
		}
		of[x.Namespace] = append(of[x.Namespace], x.Labels)
	}
	for _, c := range configs[*networkingv1.WorkloadEntry](snap, model.KindWorkloadEntry) {
		p.sidecars[c.key.Namespace] = append(p.sidecars[c.key.Namespace], registry.EntryLabels(c.object))
	}
	return p
}

// have tells whether a proxy of either kind in the namespace has the labels.
func (p *proxies) have(want model.Labels, namespace string) bool {
	return selectsAny(want, p.sidecars[namespace]) || selectsAny(want, p.routers[namespace])
}

func selectsAny(want model.Labels, all []model.Labels) bool {
	return slices.ContainsFunc(all, want.SubsetOf)
}

// configs are the objects of a kind as what they are, the oldest first.
func configs[T metav1.Object](snap *state.Snapshot, kind model.Kind) []config[T] {
	var out []config[T]
	for c := range snap.Configs(kind) {
		if o, ok := c.Object.(T); ok { // else not of a version that is read
			out = append(out, config[T]{c.Key, o})
		}
	}
	slices.SortStableFunc(out, func(a, b config[T]) int {
		return cmp.Or(a.object.GetCreationTimestamp().Compare(b.object.GetCreationTimestamp().Time), cmp.Compare(a.key.Name, b.key.Name))
	})
	return out
}

type config[T metav1.Object] struct {
	key    model.ObjectKey
	object T
}

// labelText writes labels as a selector does.
func labelText(l model.Labels) string {
	parts := make([]string, 0, len(l))
	for k, v := range l {
		parts = append(parts, k+"="+v)
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}
