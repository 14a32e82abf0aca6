package server

import (
	"math"
	"slices"

	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// historyOf is the newest transitions that are wanted, as far as the caller may see
// them.
func (s *Server) historyOf(allowed explain.May, wanted func(*journal.Transition) bool) []views.Row {
	rows, j := []views.Row{}, s.core.Journal()
	for _, t := range slices.Backward(j.Since(1, math.MaxInt).Transitions) {
		if !wanted(t) {
			continue
		}
		if rows = append(rows, s.newRow(visiblePart(t, allowed))); len(rows) == historyRows {
			break
		}
	}
	return rows
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
