package scope

import (
	"slices"
	"strings"

	"github.com/edsight/edsight/core/model"
)

func wild(h model.Hostname) bool { return strings.HasPrefix(string(h), "*") }

// Covers tells whether every name that h stands for is one that o stands for: o is
// h, or a wildcard around it.
func Covers(o, h model.Hostname) bool {
	if !wild(o) {
		return h == o
	}
	return strings.HasSuffix(strings.TrimPrefix(string(h), "*"), string(o[1:]))
}

// Overlaps tells whether h and o have a name in common.
func Overlaps(h, o model.Hostname) bool { return Covers(h, o) || Covers(o, h) }

// Qualify makes a full name of a short one, as VirtualServices and
// DestinationRules understand it.
func Qualify(host, namespace, domain string) model.Hostname {
	if host == "" || strings.ContainsAny(host, ".*:") {
		return model.Hostname(host)
	}
	return model.Hostname(host + "." + namespace + ".svc." + domain)
}

// mostSpecific finds the key for the host: itself, else the longest wildcard that
// covers it. False if there is none.
func mostSpecific[V any](m map[model.Hostname]V, host model.Hostname) (model.Hostname, bool) {
	if _, ok := m[host]; ok {
		return host, true
	}
	var best model.Hostname
	found := false
	for h := range m {
		if wild(h) && len(h) > len(best) && Covers(h, host) {
			best, found = h, true
		}
	}
	return best, found
}

// hosts are the names of one namespace in an egress listener.
type hosts struct {
	exact    map[model.Hostname]bool
	patterns []model.Hostname
}

func (h *hosts) add(name model.Hostname) {
	if wild(name) {
		h.patterns = append(h.patterns, name)
		return
	}
	if h.exact == nil {
		h.exact = map[model.Hostname]bool{}
	}
	h.exact[name] = true
}

// matches tells whether the service's name is imported.
func (h *hosts) matches(name model.Hostname) bool {
	return h != nil && (h.exact[name] || slices.ContainsFunc(h.patterns, func(p model.Hostname) bool { return Covers(p, name) }))
}

// matchesRoute tells whether a VirtualService with that host is imported; here
// wildcards count in both directions.
func (h *hosts) matchesRoute(name model.Hostname) bool {
	if h == nil {
		return false
	}
	if h.exact[name] || slices.ContainsFunc(h.patterns, func(p model.Hostname) bool { return Overlaps(name, p) }) {
		return true
	}
	if wild(name) {
		for e := range h.exact {
			if Covers(name, e) {
				return true
			}
		}
	}
	return false
}
