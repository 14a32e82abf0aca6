package server

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/edsight/edsight/core/audit"
	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/journal"
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
	near := 0
	past := sync.OnceValue(func() []*journal.Transition { return s.core.Journal().Since(1, math.MaxInt).Transitions })
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

// began is when a finding began, as far as the service itself and the past transitions
// tell; zero if they do not. It is at least as old if these go no farther back.
func (s *Server) began(snap *state.Snapshot, f *audit.Finding, past func() []*journal.Transition) (at time.Time, atLeast bool) {
	if svc := snap.Service(f.Service); !f.Since.IsZero() || !s.opts.Exported.IsZero() || svc == nil || !f.Of(snap, svc) {
		return f.Since, false
	}
	steps := 0
	for _, t := range slices.Backward(past()) {
		at = begin(t.Times)
		i := slices.IndexFunc(t.Diff.Services, func(c state.ServiceChange) bool { return c.Key == f.Service })
		if i < 0 || t.Version == 1 {
			continue // nothing changed in it, or it is the first that is known
		}
		if prev := t.Diff.Services[i].Prev; prev == nil || !f.Of(snap, prev) {
			return at, false
		}
		if steps++; steps == sinceSteps {
			break
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
