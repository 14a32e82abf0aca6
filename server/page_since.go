package server

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/edsight/edsight/core/audit"
	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

const (
	// sinceSteps is how many changes of a service are looked at for when a finding
	// began.
	sinceSteps = 100
	// nearRows is for how many findings the Pods are looked at.
	nearRows = 10
)

// newFindings are findings as pages show them.
func (s *Server) newFindings(snap *state.Snapshot, list []audit.Finding, may explain.May) []views.Finding {
	out, show := make([]views.Finding, 0, len(list)), s.showFinding(snap, may)
	for _, f := range list {
		out = append(out, show(f))
	}
	return out
}

// showFinding makes what shows the findings of one answer: with when they began, and
// with the Pod that a selector comes close to, for the first of them.
func (s *Server) showFinding(snap *state.Snapshot, may explain.May) func(audit.Finding) views.Finding {
	near, past := 0, sync.OnceValue(s.past)
	return func(f audit.Finding) views.Finding {
		v := newFinding(&f)
		v.Since, v.AtLeast = s.began(snap, &f, past)
		if f.Kind == audit.SelectsNothing && near < nearRows {
			near++
			v.Message += s.nearMiss(snap, f.Service, may)
		}
		return v
	}
}

// past is what changed in services as far back as memory goes.
type past struct {
	begins  time.Time // when the oldest transition began
	changes map[model.ServiceKey][]pastChange
}

// pastChange is what a service was before a change.
type pastChange struct {
	at   time.Time
	prev *state.ServiceState
}

// past lists the last changes of each service, the newest first, but for that with
// which all that is known became so.
func (s *Server) past() past {
	p := past{changes: map[model.ServiceKey][]pastChange{}}
	for _, t := range slices.Backward(s.core.Journal().Since(1, math.MaxInt).Transitions) {
		p.begins = begin(t.Times)
		if t.Version == 1 {
			continue // it says only that all was there
		}
		for i := range t.Diff.Services {
			c := &t.Diff.Services[i]
			if list := p.changes[c.Key]; len(list) < sinceSteps {
				p.changes[c.Key] = append(list, pastChange{p.begins, c.Prev})
			}
		}
	}
	return p
}

// began is when a finding began, as far as the service itself and the past tell; zero
// if they do not. It is at least as old if these go no farther back.
func (s *Server) began(snap *state.Snapshot, f *audit.Finding, past func() past) (at time.Time, atLeast bool) {
	if svc := snap.Service(f.Service); !f.Since.IsZero() || !s.opts.Exported.IsZero() || svc == nil || !f.Of(snap, svc) {
		return f.Since, false
	}
	at = past().begins
	for i, c := range past().changes[f.Service] {
		if c.prev == nil || !f.Of(snap, c.prev) {
			return c.at, false
		}
		if i == sinceSteps-1 {
			at = c.at
		}
	}
	return at, !at.IsZero()
}

// nearMiss says which Pod the selector of a service without candidates comes close to,
// "" if there is none.
func (s *Server) nearMiss(snap *state.Snapshot, key model.ServiceKey, may explain.May) string {
	if near := s.explainer.Nearly(snap, key, may); near != "" {
		return "; " + near
	}
	return ""
}
