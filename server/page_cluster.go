package server

import (
	"fmt"
	"slices"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/views"
)

// clusterEndpoints is how many endpoints, and how many candidates that are left
// out, the page of a cluster lists.
const clusterEndpoints = 500

// newCluster shows a cluster with its endpoints and with those left out.
func newCluster(c *cds.Cluster) *views.Cluster {
	a := assigned(c)
	m := &views.Cluster{ClusterRow: newClusterRow(c, a), Localities: []views.Locality{}, Left: []views.LeftOut{}}
	m.Verdict = clusterVerdict(m)
	if a == nil {
		return m
	}
	var candidates []*model.Candidate
	for _, x := range a.Service.Candidates() {
		candidates = append(candidates, x)
	}
	room := clusterEndpoints
	for _, l := range a.Localities {
		m.Localities = append(m.Localities, newLocality(l, candidates, &room))
		m.MoreSent += len(l.Endpoints) - len(m.Localities[len(m.Localities)-1].Endpoints)
	}
	for i, reason := range a.Reasons {
		switch {
		case reason == model.ReasonNone:
		case len(m.Left) == clusterEndpoints:
			m.MoreLeft++
		default:
			m.Left = append(m.Left, newLeftOut(candidates[i], a.View, reason))
		}
	}
	return m
}

func newLocality(l eds.LocalityEndpoints, candidates []*model.Candidate, room *int) views.Locality {
	m := views.Locality{
		Name: l.Locality.String(), Priority: l.Priority, Weight: l.Weight,
		Count: len(l.Endpoints), Endpoints: []views.Endpoint{},
	}
	for _, e := range l.Endpoints[:min(len(l.Endpoints), *room)] {
		row := views.Endpoint{
			Address: hostPort(e.Address, e.Port), Weight: e.Weight, Health: e.Health.String(),
			TLSMode: e.TLSMode, Gateway: e.Candidate < 0,
		}
		if e.Candidate >= 0 && e.Candidate < len(candidates) {
			x := candidates[e.Candidate]
			row.Target = x.Target
			if w := x.Endpoint.Workload; w != nil {
				row.Workload = w.Name
			}
		}
		m.Endpoints = append(m.Endpoints, row)
	}
	*room -= len(m.Endpoints)
	return m
}

func newLeftOut(c *model.Candidate, v eds.View, reason model.Reason) views.LeftOut {
	return views.LeftOut{
		Address: hostPort(c.Address, c.Port), PortName: c.PortName, Target: c.Target,
		Stage: reason.Stage().String(), Reason: reason, Why: reasonText(c, v, reason), Remedy: reason.Remedy(),
	}
}

// noneVerdict names the reason that most of the candidates have.
func noneVerdict(m *views.Cluster) string {
	most := slices.MaxFunc(m.Reasons, func(a, b views.ReasonCount) int { return a.Count - b.Count })
	all := views.Count(m.Dropped, "candidate", "candidates")
	if most.Count == m.Dropped {
		return fmt.Sprintf("The proxy gets none of %s: %s.", all, most.Text)
	}
	return fmt.Sprintf("The proxy gets none of %s; of %s, %s.", all, views.Number(most.Count), most.Text)
}

// clusterVerdict says in one sentence what the proxy gets.
func clusterVerdict(m *views.Cluster) string {
	switch {
	case !m.EDS && m.Sent == 0:
		return "Edsight assigns no endpoints to this cluster: " + m.Note + "."
	case m.Sent == 0 && m.Dropped == 0:
		return "The proxy gets no endpoint: the service has no candidate."
	case m.Sent == 0:
		return noneVerdict(m)
	case m.Dropped == 0:
		return fmt.Sprintf("The proxy gets all of %s.", views.Count(m.Sent, "endpoint", "endpoints"))
	default:
		return fmt.Sprintf("The proxy gets %s; %s left out.", views.Count(m.Sent, "endpoint", "endpoints"), views.Count(m.Dropped, "candidate is", "candidates are"))
	}
}
