package scope

import (
	"strings"

	"github.com/edsight/edsight/core/model"
)

func wild(h model.Hostname) bool { return strings.HasPrefix(string(h), "*") }

// subsetOf tells whether every name that h stands for is one that o stands for.
func subsetOf(h, o model.Hostname) bool {
	if !wild(o) {
		return h == o
	}
	return strings.HasSuffix(strings.TrimPrefix(string(h), "*"), string(o[1:]))
}

// Covers tells whether every name that h stands for is one that o stands for: o is
// h, or a wildcard around it.
func Covers(o, h model.Hostname) bool { return subsetOf(h, o) }

// Overlaps tells whether h and o have a name in common.
func Overlaps(h, o model.Hostname) bool { return subsetOf(h, o) || subsetOf(o, h) }

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
		if wild(h) && len(h) > len(best) && subsetOf(host, h) {
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
	if h == nil {
		return false
	}
	if h.exact[name] {
		return true
	}
	for _, p := range h.patterns {
		if subsetOf(name, p) {
			return true
		}
	}
	return false
}

// matchesRoute tells whether a VirtualService with that host is imported; here
// wildcards count in both directions.
func (h *hosts) matchesRoute(name model.Hostname) bool {
	if h == nil {
		return false
	}
	if h.matches(name) {
		return true
	}
	for _, p := range h.patterns {
		if Overlaps(name, p) {
			return true
		}
	}
	if wild(name) {
		for e := range h.exact {
			if subsetOf(e, name) {
				return true
			}
		}
	}
	return false
}
