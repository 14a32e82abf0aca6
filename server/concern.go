package server

import (
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// concerns tells whether the transition may have changed what the proxy gets:
// the proxy itself or the configuration changed, or a service that it uses.
func (s *Server) concerns(t *journal.Transition, proxy string) bool {
	d := t.Diff
	for _, c := range d.Proxies {
		if c.ID == proxy {
			return true
		}
	}
	p := t.Next.Proxy(proxy)
	if p == nil {
		return false
	}
	return len(d.Configs) > 0 || d.Mesh || d.Networks || s.usesAny(t.Next, p, d.Services) ||
		(t.Prev != nil && s.usesAny(t.Prev, p, d.Services))
}

func (s *Server) usesAny(snap *state.Snapshot, p *model.Proxy, changes []state.ServiceChange) bool {
	sc := s.scopes.For(snap, p)
	for i := range changes {
		imp := sc.Import(changes[i].Key.Hostname)
		if imp != nil && imp.Definition.Key == changes[i].Key {
			return true
		}
	}
	return false
}
