package server

import (
	"net/http"
	"net/url"
	"slices"
	"sync"

	"github.com/a-h/templ"

	"github.com/edsight/edsight/core/audit"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

func (s *Server) slicesPage(r *http.Request) (any, templ.Component, error) {
	win, err := newWindow(r)
	if err != nil {
		return nil, nil, err
	}
	snap, q := s.core.Snapshot(), r.URL.Query()
	c := s.chrome(r, snap, views.SectionSlices, "Slices")
	m := views.Slices{
		State: c.State, Kind: q.Get("kind"), Query: q.Get("q"), Namespace: q.Get("namespace"),
		Kinds: []views.FindingKind{}, Partial: s.opts.Objects == nil, Namespaces: namespaces(snap),
	}
	m.Slices, m.Endpoints = countSlices(snap)
	counts, list := map[audit.Kind]int{}, []audit.Finding{}
	for _, f := range s.findingsOf(snap, q) {
		counts[f.Kind]++
		if (m.Kind == "" || m.Kind == string(f.Kind)) && win.next() {
			list = append(list, f)
		}
	}
	m.Findings = s.newFindings(snap, list, may(r))
	for _, k := range audit.Kinds() {
		if counts[k] > 0 {
			m.Kinds = append(m.Kinds, views.FindingKind{Kind: string(k), Text: k.Text(), Count: counts[k]})
		}
	}
	m.Page = win.page()
	return m, views.SlicesPage(c, m), nil
}

// found are the findings of one snapshot, for all pages that show some.
type found struct {
	mu   sync.Mutex // protects all below
	snap *state.Snapshot
	list []audit.Finding
}

// findings are those of the slices. An object that is newer than the snapshot may
// make one appear or vanish a moment early.
func (s *Server) findings(snap *state.Snapshot) []audit.Finding {
	f := &s.found
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.snap == snap {
		return slices.Clone(f.list)
	}
	var get audit.Lookup
	if s.opts.Objects != nil {
		get = func(k model.ObjectKey) source.Object { return s.opts.Objects.Get(k) }
	}
	f.snap, f.list = snap, audit.Slices(snap, get)
	return slices.Clone(f.list)
}

// findingsOf are the findings of the namespace, and with the name, that the query asks
// for.
func (s *Server) findingsOf(snap *state.Snapshot, q url.Values) []audit.Finding {
	namespace, find := q.Get("namespace"), newSearch(q.Get("q"))
	return slices.DeleteFunc(s.findings(snap), func(f audit.Finding) bool {
		return (namespace != "" && f.Object.Namespace != namespace) || !findsFinding(find, &f)
	})
}

func findsFinding(f search, x *audit.Finding) bool {
	return f.empty() || f.name(x.Object.Namespace+"/"+x.Object.Name) || f.name(x.Service.String())
}

func newFinding(f *audit.Finding) views.Finding {
	v := views.Finding{
		Kind: string(f.Kind), Text: f.Kind.Text(), Object: f.Object, Field: f.Field,
		Message: f.Message, Remedy: f.Remedy, Since: f.Since,
	}
	if f.Service != (model.ServiceKey{}) {
		ref := views.Ref(f.Service)
		v.Service = &ref
	}
	return v
}

// countSlices counts the slices and their endpoints, each address once per slice.
func countSlices(snap *state.Snapshot) (list, endpoints int) {
	chunks := func(all []*state.Chunk) {
		for _, c := range all {
			if c.Source.Kind == model.KindEndpointSlice {
				list++
				endpoints += addressCount(c)
			}
		}
	}
	for svc := range snap.Services() {
		for _, sh := range svc.Shards {
			chunks(sh.Chunks)
		}
	}
	chunks(slices.Collect(snap.Strays()))
	return list, endpoints
}

// addressCount counts the addresses of a chunk; those of one endpoint, at several
// ports, follow each other.
func addressCount(c *state.Chunk) int {
	n := 0
	for i, x := range c.Candidates {
		if i == 0 || x.Address != c.Candidates[i-1].Address {
			n++
		}
	}
	return n
}
