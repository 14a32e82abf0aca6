package audit

import (
	"slices"
	"strings"

	"github.com/edsight/edsight/core/model"
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
	hosts := newHosts(snap)
	list := slices.Concat(sidecars(snap), serviceEntries(snap), destinationRules(hosts), virtualServices(hosts), providers(snap))
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
	return slices.ContainsFunc(h.names, func(n model.Hostname) bool { return covers(host, n) || covers(n, host) })
}

// covers tells whether the wildcard stands for the hostname.
func covers(wildcard, host model.Hostname) bool {
	suffix, ok := strings.CutPrefix(string(wildcard), "*")
	return ok && strings.HasSuffix(string(host), suffix)
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
