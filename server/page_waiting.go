package server

import (
	"net/http"
	"slices"
	"time"

	"github.com/a-h/templ"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// waits tells whether a candidate waits for something that should come by itself.
func waits(r model.Reason) bool {
	return r == model.ReasonPodNotSeen || r == model.ReasonPodWithoutIP || r == model.ReasonNoService
}

// waitingCount counts the candidates that wait.
func waitingCount(snap *state.Snapshot) int {
	n := 0
	for svc := range snap.Services() {
		for _, c := range svc.Candidates() {
			if waits(c.Reason) {
				n++
			}
		}
	}
	return n
}

// orphan is an endpoint of a shard whose source object is not there.
type orphan struct {
	service   model.ServiceKey
	candidate *model.Candidate
}

// orphans are the endpoints of shards whose slice, or other object, the source
// does not have; there must be none. Without objects there is nothing to compare.
func (s *Server) orphans(snap *state.Snapshot) []orphan {
	if s.opts.Objects == nil {
		return nil
	}
	var list []orphan
	for svc := range snap.Services() {
		for _, sh := range svc.Shards {
			for _, chunk := range sh.Chunks {
				if len(chunk.Candidates) > 0 && s.opts.Objects.Get(chunk.Source) == nil {
					list = append(list, orphan{svc.Key, chunk.Candidates[0]})
				}
			}
		}
	}
	// An object may have gone since the snapshot: only what the newest one still
	// has is an orphan.
	newest := s.core.Snapshot()
	return slices.DeleteFunc(list, func(o orphan) bool {
		return newest != snap && !slices.ContainsFunc(shardsOf(newest, o.service), func(sh *state.Shard) bool {
			return slices.ContainsFunc(sh.Chunks, func(c *state.Chunk) bool { return c.Source == *o.candidate.Source })
		})
	})
}

func shardsOf(snap *state.Snapshot, key model.ServiceKey) []*state.Shard {
	if svc := snap.Service(key); svc != nil {
		return svc.Shards
	}
	return nil
}

func (s *Server) waitingPage(r *http.Request) (any, templ.Component, error) {
	win, err := newWindow(r)
	if err != nil {
		return nil, nil, err
	}
	snap, allowed := s.core.Snapshot(), may(r)
	c := s.chrome(r, snap, views.SectionWaiting, "Waiting room")
	m := views.Waiting{State: c.State, Rows: []views.WaitingRow{}, Orphans: []views.WaitingRow{}}
	since := s.waitingSince(snap)
	for svc := range snap.Services() {
		for _, x := range svc.Candidates() {
			if waits(x.Reason) && allowed(svc.Key.Namespace) && win.next() {
				row := newWaitingRow(svc.Key, x)
				began := since[waitingKey{svc.Key, x.Address, x.PortName}]
				row.Since, row.AtLeast = began.at, began.atLeast
				m.Rows = append(m.Rows, row)
			}
		}
	}
	m.Page = win.page()
	for _, o := range s.orphans(snap) {
		if allowed(o.service.Namespace) {
			m.Orphans = append(m.Orphans, newWaitingRow(o.service, o.candidate))
		}
	}
	return m, views.WaitingPage(c, m), nil
}

func newWaitingRow(key model.ServiceKey, c *model.Candidate) views.WaitingRow {
	return views.WaitingRow{
		Service: views.Ref(key), Address: hostPort(c.Address, c.Port), PortName: c.PortName, Source: *c.Source,
		Target: c.Target, Why: c.Reason.Text(), Remedy: c.Reason.Remedy(),
	}
}

// waitingKey is a candidate over time.
type waitingKey struct {
	service       model.ServiceKey
	address, port string
}

// waitingSince is since when one waits; at least, if it was found so.
type waitingSince struct {
	at      time.Time
	atLeast bool
}

// waitingSince says since when candidates wait, as far as the journal goes back.
func (s *Server) waitingSince(snap *state.Snapshot) map[waitingKey]waitingSince {
	out := map[waitingKey]waitingSince{}
	j := s.core.Journal()
	for _, t := range j.Since(1, int(j.Last())).Transitions { //nolint:gosec // a journal's length fits
		if t.Version > snap.Version {
			continue // newer than the page
		}
		for i := range t.Diff.Services {
			c := &t.Diff.Services[i]
			for _, e := range c.Endpoints {
				if e.After == nil {
					continue // went
				}
				k := waitingKey{c.Key, e.After.Address, e.After.PortName}
				if waits(e.After.Reason) && (e.Before == nil || !waits(e.Before.Reason)) {
					out[k] = waitingSince{begin(t.Times), t.Version == 1}
				}
			}
		}
	}
	return out
}
