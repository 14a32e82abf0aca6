package server

import (
	"errors"
	"fmt"
	"math"
	"net/http"

	"github.com/a-h/templ"

	"github.com/edsight/edsight/core/archive"
	"github.com/edsight/edsight/core/compare"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/views"
)

// exportPath is the door of the API that gives the whole state as a file.
const exportPath = "/api/v1/snapshot"

// snapshotRoutes are the doors to exported states.
func (s *Server) snapshotRoutes() []route {
	return []route{
		{method: http.MethodGet, pattern: "/snapshots", help: "exports of the state, and those that were opened", handle: s.page(s.snapshotsPage)},
		{method: http.MethodPost, pattern: "/snapshots", help: "opens an exported state, a file of the form or the body", mutates: true, handle: s.handleOpen},
		{method: http.MethodGet, pattern: "/snapshots/{key}", help: "what differs from an opened state now, or in the one named with=", handle: s.page(s.snapshotPage)},
		{method: http.MethodPost, pattern: "/snapshots/{key}/close", help: "forgets an opened state", mutates: true, handle: s.handleClose},
	}
}

func (s *Server) snapshotsPage(r *http.Request) (any, templ.Component, error) {
	snap, j := s.core.Snapshot(), s.core.Journal()
	c := s.chrome(r, snap, views.SectionSnapshots, "Snapshots")
	m := views.Snapshots{
		State: c.State, Services: snap.ServiceCount(), Proxies: snap.ProxyCount(),
		Steps: len(j.Since(1, math.MaxInt).Transitions), Export: exportPath,
		Curl:   `curl -OJ -H "Authorization: Bearer $EDSIGHT_TOKEN" ` + quoted(r, exportPath),
		Opened: s.openedRefs(), Room: maxOpened,
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

func (s *Server) openedRefs() []views.SnapshotRef {
	all := s.shelf.all()
	list := make([]views.SnapshotRef, 0, len(all))
	for _, o := range all {
		list = append(list, o.ref())
	}
	return list
}

func (o *opened) ref() views.SnapshotRef {
	h, snap := o.content.Header, o.content.Snapshot
	return views.SnapshotRef{
		Key: o.key, Name: o.name, Version: snap.Version, Created: h.Created, Redacted: h.Redacted,
		Services: snap.ServiceCount(), Proxies: snap.ProxyCount(), OpenedAt: o.at, OpenedBy: o.by,
	}
}

// handleOpen opens an archive and leads to what differs from it.
func (s *Server) handleOpen(w http.ResponseWriter, r *http.Request) error {
	var o *opened
	err := s.shelf.read(w, func() error {
		u, err := readUpload(r)
		if err != nil {
			return err
		}
		c, err := archive.Read(u.body, uploadLimits())
		if err != nil {
			return err
		}
		o = s.shelf.add(c, u.name, identityOf(r).name, s.now())
		return nil
	})
	if _, known := errors.AsType[*httpError](err); known {
		return err
	}
	if err != nil {
		return &httpError{
			Status: http.StatusBadRequest, Message: fmt.Sprintf("the snapshot cannot be opened: %v", err),
			Next: []views.Link{{Text: "Choose another file", Href: "/snapshots#opened"}},
		}
	}
	http.Redirect(w, r, views.SnapshotURL(o.key, ""), http.StatusSeeOther)
	return nil
}

func (s *Server) handleClose(w http.ResponseWriter, r *http.Request) error {
	if !s.shelf.remove(param(r, "key")) {
		return notFound("no snapshot %s is open", param(r, "key"))
	}
	http.Redirect(w, r, "/snapshots", http.StatusSeeOther)
	return nil
}

// findOpened returns the opened snapshot of that key.
func (s *Server) findOpened(key string) (*opened, error) {
	o := s.shelf.find(key)
	if o == nil {
		return nil, notFound("no snapshot %s is open (any more): %s", key, views.Count(maxOpened, "is kept", "are kept"))
	}
	return o, nil
}

// snapshotPage compares an opened state with the present one, or with another.
func (s *Server) snapshotPage(r *http.Request) (any, templ.Component, error) {
	win, err := newWindow(r)
	if err != nil {
		return nil, nil, err
	}
	before, err := s.findOpened(param(r, "key"))
	if err != nil {
		return nil, nil, err
	}
	snap := s.core.Snapshot()
	c := s.chrome(r, snap, views.SectionSnapshots, "What changed")
	m := views.SnapshotDiff{State: c.State, Before: before.ref(), Opened: s.openedRefs(), Services: []views.ServiceChange{}}
	side := compare.Side{Snap: snap, Scopes: &s.scopes}
	m.After = views.SnapshotRef{Name: "now", Version: snap.Version, Services: snap.ServiceCount(), Proxies: snap.ProxyCount()}
	if with := r.URL.Query().Get("with"); with != "" {
		after, err := s.findOpened(with)
		if err != nil {
			return nil, nil, err
		}
		m.After, side = after.ref(), after.side()
	}
	compareStates(&m, before.side(), side, win)
	return m, views.SnapshotDiffPage(c, m), nil
}

// compareStates fills in what differs.
func compareStates(m *views.SnapshotDiff, before, after compare.Side, win *window) {
	d := registry.Between(before.Snap, after.Snap)
	changed := map[model.ServiceKey]bool{}
	for i := range d.Services {
		changed[d.Services[i].Key] = true
	}
	m.MoreServices = max(len(d.Services)-transitionServices, 0)
	for i := range d.Services[:min(len(d.Services), transitionServices)] {
		m.Services = append(m.Services, newServiceChangeView(&d.Services[i]))
	}
	m.Proxies = proxyDiffs(before, after, changed, m.Before.Key, m.After.Key, win)
	m.Page = win.page()
	others := *d
	others.Proxies = nil
	for _, p := range d.Proxies {
		if p.Prev != nil && p.Next != nil {
			others.Proxies = append(others.Proxies, p) // those that came or went have rows
		}
	}
	m.Others = otherChanges(&others)
	m.Same = d.Empty() && m.Page.Total == 0
	m.Verdict = "Nothing differs: services, proxies, objects and mesh configuration are the same."
	if !m.Same {
		m.Verdict = views.Count(len(d.Services), "service", "services") + " and the endpoints of " + views.Count(m.Page.Total, "proxy", "proxies") + " differ."
	}
}

func proxyDiffs(before, after compare.Side, changed map[model.ServiceKey]bool, key, with string, win *window) []views.ProxyDiff {
	list := []views.ProxyDiff{}
	for p := range compare.Proxies(before, after, changed) {
		if !win.next() {
			continue // on another page
		}
		v := views.ProxyDiff{ID: p.ID, Op: "changed", Clusters: p.Clusters, Added: p.OnlyThere, Removed: p.OnlyHere, Changed: p.Changed}
		switch {
		case p.Here == nil:
			v.Op = "came"
			if with == "" {
				v.Href = views.ProxyURL(p.ID)
			}
		case p.There == nil:
			v.Op = "went"
		case with == "":
			v.Href = views.CompareSnapshotURL(p.ID, key)
		}
		list = append(list, v)
	}
	return list
}
