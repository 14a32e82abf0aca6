package server

import (
	"net/http"
	"sync"
	"time"

	"github.com/a-h/templ"

	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// wrongRows is how many services and how many findings the page of all that is
// wrong lists; the rest is counted, and has pages of its own.
const wrongRows = 50

func (s *Server) wrongPage(r *http.Request) (any, templ.Component, error) {
	snap := s.core.Snapshot()
	c := s.chrome(r, snap, views.SectionNone, "What is wrong now")
	m := s.wrong(snap)
	found := s.findings(snap)
	m.Findings = s.newFindings(snap, found[:min(len(found), wrongRows)], may(r))
	m.State, c.Troubles.Wrong = c.State, m.Total()
	return m, views.WrongPage(c, m), nil
}

// wrong gathers what the pages of services, slices and configuration each know; the
// findings themselves are only counted.
func (s *Server) wrong(snap *state.Snapshot) views.Wrong {
	m := views.Wrong{
		Services: []views.ServiceRow{}, Findings: []views.Finding{},
		Problems: s.problems(snap, s.core.Status().Source), Partial: s.opts.Objects == nil,
	}
	config := configTrouble(snap)
	for svc := range snap.Services() {
		if !showsOnly(svc, config, "trouble") {
			continue // nothing is wrong with it
		}
		if m.ServiceCount++; m.ServiceCount <= wrongRows {
			m.Services = append(m.Services, newServiceRow(svc, config))
		}
	}
	m.FindingCount = len(s.findings(snap))
	return m
}

// quickCount is how long a page may take to count what is wrong in a new state. In a
// mesh in which that takes longer it is counted beside, a countShare of the time.
const (
	quickCount = 2 * time.Millisecond
	countShare = 100
)

// counting keeps what was counted last.
type counting struct {
	mu   sync.Mutex // protects all below
	last *views.Wrong
	// version of the snapshot, and mark of the source's problems, that were counted.
	version uint64
	mark    string
	began   time.Time
	took    time.Duration
	busy    bool
}

// wrongCounts is what is wrong, as of now or shortly before.
func (s *Server) wrongCounts(snap *state.Snapshot) views.Wrong {
	c, mark := &s.counting, troubleMark(s.core.Status().Source)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.last != nil && c.version == snap.Version && c.mark == mark:
		// it is the same
	case c.last == nil || c.took < quickCount:
		began := time.Now()
		m := s.wrong(snap)
		c.keepLocked(&m, snap.Version, mark, began)
	case !c.busy && time.Since(c.began) > countShare*c.took:
		c.busy = true
		go s.countAgain()
	}
	return *c.last
}

func (c *counting) keepLocked(m *views.Wrong, version uint64, mark string, began time.Time) {
	c.last, c.version, c.mark, c.began, c.took = m, version, mark, began, time.Since(began)
}

// countAgain takes a core, as an answer does.
func (s *Server) countAgain() {
	s.cores.enter()
	defer s.cores.leave()
	began, snap, mark := time.Now(), s.core.Snapshot(), troubleMark(s.core.Status().Source)
	var m views.Wrong
	aside(func() { m = s.wrong(snap) })
	c := &s.counting
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keepLocked(&m, snap.Version, mark, began)
	c.busy = false
}
