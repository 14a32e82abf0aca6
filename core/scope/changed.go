package scope

import (
	"maps"
	"slices"

	"github.com/edsight/edsight/core/model"
)

// Changed lists the services that are imported in another way than in an earlier
// scope of the same Key, or in one of the two only. It is false if something
// differs on which all imports depend.
func (s *Scope) Changed(before *Scope) (map[model.ServiceKey]struct{}, bool) {
	a, b := before.index, s.index
	if before.Key != s.Key || a.mesh != b.mesh || a.gateways != b.gateways || a.namedGateways != b.namedGateways || !maps.Equal(a.peers, b.peers) {
		return nil, false
	}
	out := map[model.ServiceKey]struct{}{}
	old, now := before.Imports, s.Imports
	for len(old) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || (len(old) > 0 && old[0].Definition.Key.Compare(now[0].Definition.Key) < 0):
			out[old[0].Definition.Key] = struct{}{}
			old = old[1:]
		case len(old) == 0 || now[0].Definition.Key.Compare(old[0].Definition.Key) < 0:
			out[now[0].Definition.Key] = struct{}{}
			now = now[1:]
		default:
			if !old[0].like(&now[0]) {
				out[now[0].Definition.Key] = struct{}{}
			}
			old, now = old[1:], now[1:]
		}
	}
	return out, true
}

// like tells whether the same clusters follow from both.
func (i *Import) like(o *Import) bool {
	return i.Definition == o.Definition && i.ClusterLocal == o.ClusterLocal &&
		slices.EqualFunc(i.rules, o.rules, func(a, b *Rule) bool { return a.Spec == b.Spec })
}
