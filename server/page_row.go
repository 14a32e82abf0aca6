package server

import (
	"cmp"
	"time"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// What one row of the feed names; the rest is counted.
const (
	rowServices = 2
	rowNotes    = 3
)

// newRow shows a transition as one row.
func (s *Server) newRow(t *journal.Transition) views.Row {
	r := views.Row{
		Seq: t.Seq, Version: t.Version, Time: t.Times.Published, Seen: begin(t.Times),
		Push: t.Push.Scope.Type.String(), Because: t.Push.Because, Proxies: s.pages.audience.count(s.core.Journal(), t),
		TotalMS:  millis(t.Times.Published.Sub(begin(t.Times))),
		Services: []views.ServiceRef{}, Delivery: newDelivery(s.core.Journal(), t),
	}
	rowCauses(&r, t)
	for i := range t.Diff.Services {
		rowService(&r, &t.Diff.Services[i])
	}
	return r
}

// rowCauses names the slice among the causes, or else the first of them.
func rowCauses(r *views.Row, t *journal.Transition) {
	var named *journal.Cause
	for i := range t.Causes {
		c := &t.Causes[i]
		r.Causes += max(c.Merged, 1)
		if named == nil || (named.Key.Kind != model.KindEndpointSlice && c.Key.Kind == model.KindEndpointSlice) {
			named = c
		}
	}
	if named != nil {
		r.Cause, r.Actor = named.Key, named.Actor
	}
}

func rowService(r *views.Row, c *state.ServiceChange) {
	if len(r.Services) < rowServices {
		r.Services = append(r.Services, views.Ref(c.Key))
	} else {
		r.MoreServices++
	}
	r.Definition = r.Definition || c.Definition
	for _, e := range c.Endpoints {
		switch e.Kind() {
		case state.EndpointAdded:
			r.Added++
		case state.EndpointRemoved:
			r.Removed++
		case state.EndpointChanged:
			r.Changed++
		case state.CandidateWaiting:
			r.Waiting++
		}
		if len(r.Notes) < rowNotes {
			r.Notes = append(r.Notes, endpointNote(e))
		} else {
			r.MoreNotes++
		}
	}
}

// endpointNote says in few words what happened to an endpoint.
func endpointNote(e state.EndpointChange) string {
	one := e.After
	if one == nil {
		one = e.Before
	}
	text := one.Address
	switch e.Kind() {
	case state.EndpointAdded:
		if h := e.After.Endpoint.Health; h != model.Healthy && h != model.HealthUnset {
			return text + " in, " + h.String()
		}
		return text + " in"
	case state.EndpointRemoved:
		if e.After != nil {
			return text + " out (" + e.After.Reason.String() + ")"
		}
		return text + " out"
	case state.EndpointChanged:
		before, after := endpointStates(e)
		return text + " " + before + " → " + after
	case state.CandidateWaiting:
		if e.After == nil {
			return text + " is offered no longer"
		}
		return text + " held back (" + e.After.Reason.String() + ")"
	}
	return text
}

// newGap shows a gap of the journal.
func newGap(g *journal.Gap) *views.Gap {
	if g == nil {
		return nil
	}
	return &views.Gap{From: g.From, To: g.To, Restarted: g.To < g.From}
}

// begin is when the first cause was seen. The first state of an empty mesh has no
// cause.
func begin(t journal.Times) time.Time { return cmp.Or(t.Seen, t.Drained) }

func millis(d time.Duration) float64 { return float64(max(d, 0)) / float64(time.Millisecond) }
