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
	m.State = c.State
	return m, views.WrongPage(c, m), nil
}

// wrong gathers what the pages of services, slices and configuration each know.
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
	found := s.findings(snap)
	m.FindingCount = len(found)
	for i := range found[:min(len(found), wrongRows)] {
		m.Findings = append(m.Findings, newFinding(&found[i]))
	}
	return m
}

// quickCount is how long a page may take to count what is wrong. In a mesh in which
// that takes longer, it is counted once in a countAge.
const (
	quickCount = 10 * time.Millisecond
	countAge   = 10 * time.Second
)

// counting keeps what was counted last.
type counting struct {
	mu    sync.Mutex // protects all below
	last  *views.Wrong
	began time.Time
	took  time.Duration
	busy  bool
}

// wrongCounts is what is wrong, as of now or shortly before.
func (s *Server) wrongCounts(snap *state.Snapshot) views.Wrong {
	c := &s.counting
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.last == nil || c.took < quickCount:
		c.began = time.Now()
		m := s.wrong(snap)
		c.last, c.took = &m, time.Since(c.began)
	case !c.busy && time.Since(c.began) > countAge:
		c.busy = true
		go s.countAgain()
	}
	return *c.last
}

// countAgain takes a core, as an answer does.
func (s *Server) countAgain() {
	s.cores.enter()
	defer s.cores.leave()
	began := time.Now()
	var m views.Wrong
	aside(func() { m = s.wrong(s.core.Snapshot()) })
	c := &s.counting
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last, c.began, c.took, c.busy = &m, began, time.Since(began), false
}
