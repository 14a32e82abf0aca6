package server

import (
	"math"
	"slices"

	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// historyOf is what part chooses of the newest transitions, which is nil of those that
// are not wanted, as far as the caller may see it.
func (s *Server) historyOf(allowed explain.May, part func(*journal.Transition) *journal.Transition) []views.Row {
	rows, j := []views.Row{}, s.core.Journal()
	for _, t := range slices.Backward(j.Since(1, math.MaxInt).Transitions) {
		wanted := part(t)
		if wanted == nil {
			continue
		}
		if rows = append(rows, s.newRow(visiblePart(wanted, allowed))); len(rows) == historyRows {
			break
		}
	}
	return rows
}

// whole is a part that is all or nothing.
func whole(wanted func(*journal.Transition) bool) func(*journal.Transition) *journal.Transition {
	return func(t *journal.Transition) *journal.Transition {
		if wanted(t) {
			return t
		}
		return nil
	}
}

// partOf is what a transition changed of one service, nil if nothing. The first state
// has no cause that were the service's own.
func partOf(t *journal.Transition, key model.ServiceKey) *journal.Transition {
	i := slices.IndexFunc(t.Diff.Services, func(c state.ServiceChange) bool { return c.Key == key })
	if i < 0 {
		return nil
	}
	part := *t
	part.Diff = &state.Diff{Services: t.Diff.Services[i : i+1 : i+1]}
	if t.Version == 1 {
		part.Causes = nil
	}
	return &part
}

// visiblePart is a transition with the causes and changes of those namespaces alone
// that may be seen.
func visiblePart(t *journal.Transition, allowed explain.May) *journal.Transition {
	if allowed("") {
		return t
	}
	part := *t
	part.Causes = slices.DeleteFunc(slices.Clone(t.Causes), func(c journal.Cause) bool { return !allowed(c.Key.Namespace) })
	part.Diff = &state.Diff{Services: slices.DeleteFunc(slices.Clone(t.Diff.Services), func(c state.ServiceChange) bool { return !allowed(c.Key.Namespace) })}
	if len(part.Causes) < len(t.Causes) {
		part.Push.Because = "something changed, in other namespaces too"
	}
	return &part
}
