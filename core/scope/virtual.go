package scope

import (
	"slices"

	"github.com/edsight/edsight/core/model"
)

// VirtualService names the one whose routes requests to a host take: the first for
// the host itself that is imported, else for the longest wildcard that covers it.
// False if there is none.
func (s *Scope) VirtualService(host model.Hostname) (model.ObjectKey, bool) {
	imports := egress(s.Sidecar, s.Key.Namespace)
	var best model.Hostname
	var key model.ObjectKey
	for _, r := range s.index.visibleRoutes(s.Key.Namespace) {
		for _, h := range r.hosts {
			if closer(h, best, host) && slices.ContainsFunc(imports, func(l *listener) bool { return l.matchesRoute(r) }) {
				best, key = h, r.key
			}
		}
	}
	return key, best != ""
}

// closer tells whether h is for the host, and more so than another that is.
func closer(h, other, host model.Hostname) bool {
	switch {
	case h == host:
		return other != host
	case !wild(h) || !Covers(h, host):
		return false
	}
	return other != host && len(h) > len(other)
}
