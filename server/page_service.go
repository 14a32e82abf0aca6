package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/edsight/edsight/core/audit"
	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// historyRows is how many transitions the page of a service shows.
const historyRows = 20

func (s *Server) servicePage(r *http.Request) (any, templ.Component, error) {
	win, err := newWindow(r)
	if err != nil {
		return nil, nil, err
	}
	snap := s.core.Snapshot()
	svc, err := s.findService(r, snap)
	if err != nil {
		return nil, nil, err
	}
	c := s.chrome(r, snap, views.SectionServices, string(svc.Key.Hostname))
	c.Live = filter{namespace: svc.Key.Namespace, service: string(svc.Key.Hostname)}.query().Encode()
	allowed := may(r)
	m := newService(snap, svc, allowed)
	if def := svc.Definition(); def != nil && svc.CandidateCount() == 0 {
		if near := s.nearMiss(snap, svc.Key, allowed); near != "" {
			m.Verdict = strings.TrimSuffix(m.Verdict, ".") + near + "."
		}
	}
	m.State, m.Only = c.State, r.URL.Query().Get("only")
	proxies := slices.DeleteFunc(s.byScope(snap), func(one scoped) bool { return !allowed(one.key.Namespace) })
	m.Others = slices.DeleteFunc(m.Others, func(o views.OtherDefinition) bool { return !allowed(o.Namespace) })
	m.AllViews = r.URL.Query().Get("views") == "all"
	columns := s.views(snap, svc, proxies, s.connected(r), m.AllViews)
	m.Views, m.MoreViews, m.ViewsNote = columns.shown, columns.more, columns.note
	for i := range m.Subsets {
		m.Subsets[i].Explain = m.ExplainURL(m.Subsets[i].Name)
	}
	m.Slices = newSlices(svc, m.Only, win, columns)
	m.Page = win.page()
	m.Users, m.History = s.usersOf(snap, svc, proxies), s.historyOf(allowed, func(t *journal.Transition) *journal.Transition { return partOf(t, svc.Key) })
	return m, views.ServicePage(c, m), nil
}

// newService shows everything of a service but its candidates and history.
func newService(snap *state.Snapshot, svc *state.ServiceState, allowed explain.May) views.Service {
	m := views.Service{ServiceRow: newServiceRow(svc, nil), Others: otherDefinitions(snap, svc), Shards: []views.ShardRow{}}
	if def := svc.Definition(); def != nil {
		m.Definition = newDefinition(def)
	}
	reasons := map[model.Reason]int{}
	byPort := map[string]*views.PortRow{}
	for i := range m.Ports {
		byPort[m.Ports[i].Name] = &m.Ports[i]
	}
	for _, c := range svc.Candidates() {
		switch p := byPort[c.PortName]; {
		case c.Endpoint == nil:
			reasons[c.Reason]++
		case p != nil:
			p.Endpoints++
			if ready(c.Endpoint) {
				p.Ready++
			}
		}
	}
	m.Reasons, m.StrayPorts = views.Reasons(reasons), tallyOf(svc).stray
	for _, sh := range svc.Shards {
		m.Shards = append(m.Shards, newShardRow(sh))
	}
	for _, sub := range audit.Subsets(snap, svc) {
		if !allowed(sub.Rule.Namespace) {
			continue // not to be seen
		}
		m.Subsets = append(m.Subsets, newSubsetRow(&sub))
	}
	m.Verdict, m.Healthy = serviceVerdict(&m, svc)
	for _, p := range configTrouble(snap)[svc.Key.Hostname] {
		if !allowed(p.Object.Namespace) {
			continue // not to be seen
		}
		m.Verdict, m.Healthy = m.Verdict+" But "+p.Object.String()+": "+p.Message+" ("+p.Remedy+").", false
	}
	return m
}

func newSubsetRow(s *audit.Subset) views.SubsetRow {
	return views.SubsetRow{Rule: s.Rule, Name: s.Name, Labels: labelText(s.Labels), Endpoints: s.Endpoints, Ready: s.Ready, Of: s.Of}
}

func newShardRow(sh *state.Shard) views.ShardRow {
	row := views.ShardRow{Key: sh.Key.String(), Sources: len(sh.Chunks), Candidates: len(sh.Candidates), Endpoints: sh.Endpoints}
	for _, c := range sh.Candidates {
		if ready(c.Endpoint) {
			row.Ready++
		}
	}
	return row
}

// newSlices shows the candidates on one page, by the slice which offers them.
// They are those of the shard, as duplicates are marked only there.
func newSlices(svc *state.ServiceState, only string, win *window, columns viewColumns) []views.Slice {
	list, i := []views.Slice{}, -1
	for _, sh := range svc.Shards {
		rest := sh.Candidates
		for _, chunk := range sh.Chunks {
			n := min(len(chunk.Candidates), len(rest))
			s := views.Slice{Source: chunk.Source, ResourceVersion: chunk.ResourceVersion, Shard: sh.Key.String()}
			for _, c := range rest[:n] {
				i++
				if wantsCandidate(c, only) && (only != "differs" || columns.differs(i, c)) && win.next() {
					row := newCandidateRow(svc, c)
					row.Verdicts = columns.verdicts(i, c)
					s.Candidates = append(s.Candidates, row)
				}
			}
			if rest = rest[n:]; len(s.Candidates) > 0 {
				list = append(list, s)
			}
		}
	}
	return list
}

func wantsCandidate(c *model.Candidate, only string) bool {
	switch only {
	case "held":
		return c.Endpoint == nil
	case "unready":
		return !ready(c.Endpoint)
	default:
		return true
	}
}

func newCandidateRow(svc *state.ServiceState, c *model.Candidate) views.Candidate {
	row := views.Candidate{
		Address: hostPort(c.Address, c.Port), PortName: c.PortName, Target: c.Target,
		Reason: c.Reason, PortKnown: c.Endpoint == nil || hasPortName(svc.Definition(), c.PortName),
	}
	if c.Endpoint == nil {
		row.Why, row.Remedy = reasonText(c, eds.View{}, c.Reason), c.Reason.Remedy()
		return row
	}
	row.Admitted, row.Health = true, c.Endpoint.Health.String()
	if w := c.Endpoint.Workload; w != nil {
		row.Workload, row.Locality, row.Node = w.Name, w.Locality.String(), w.Node
	}
	return row
}

func hasPortName(def *model.Service, name string) bool {
	return def == nil || slices.ContainsFunc(def.Ports, func(p model.Port) bool { return p.Name == name })
}
