package server

import (
	"math"
	"net/http"

	"github.com/a-h/templ"

	"github.com/edsight/edsight/views"
)

// exportPath is the door of the API that gives the whole state as a file.
const exportPath = "/api/v1/snapshot"

func (s *Server) snapshotsPage(r *http.Request) (any, templ.Component, error) {
	snap, j := s.core.Snapshot(), s.core.Journal()
	c := s.chrome(r, snap, views.SectionSnapshots, "Snapshots")
	m := views.Snapshots{
		State: c.State, Services: snap.ServiceCount(), Proxies: snap.ProxyCount(),
		Steps: len(j.Since(1, math.MaxInt).Transitions), Export: exportPath,
		Curl: `curl -OJ -H "Authorization: Bearer $EDSIGHT_TOKEN" ` + quoted(r, exportPath),
	}
	for svc := range snap.Services() {
		m.Endpoints += svc.EndpointCount()
		m.Held += svc.CandidateCount() - svc.EndpointCount()
	}
	for range snap.Configs("") {
		m.Configs++
	}
	return m, views.SnapshotsPage(c, m), nil
}
