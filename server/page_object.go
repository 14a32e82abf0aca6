package server

import (
	"net/http"
	"slices"

	"github.com/a-h/templ"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/manifest"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// objectAddresses is how many addresses of a workload the page of an object names.
const objectAddresses = 8

// objectPage shows an object that Edsight reads, and what became of it. One that
// cannot be read has a page, too, which says so.
func (s *Server) objectPage(r *http.Request) (any, templ.Component, error) {
	snap, allowed := s.core.Snapshot(), may(r)
	key := model.ObjectKey{
		Kind: model.Kind(param(r, "kind")), Namespace: param(r, "ns"), Name: param(r, "name"),
		Cluster: model.ClusterID(r.URL.Query().Get("cluster")),
	}
	if !allowed(key.Namespace) {
		return nil, nil, s.noObject(key, allowed)
	}
	m := views.Object{Key: key}
	o, problems := s.findObject(snap, &m.Key), s.problems(snap, s.core.Status().Source)
	for _, p := range problems {
		if sameObject(p.Object, m.Key) {
			m.Problems = append(m.Problems, p)
		}
	}
	if m.Key.Kind == model.KindEndpointSlice || m.Key.Kind == model.KindService {
		show := s.showFinding(snap, allowed)
		for _, f := range s.findings(snap) {
			if sameObject(f.Object, m.Key) {
				m.Findings = append(m.Findings, show(f))
			}
		}
	}
	m.Links = objectLinks(snap, m.Key)
	switch {
	case o != nil:
		var err error
		if m.Object, m.Text, err = manifest.Encode(m.Key, o); err != nil {
			return nil, nil, err
		}
		m.Text = inOrder(m.Text)
		if m.Key.Kind == model.KindEndpointSlice {
			m.Text, m.Endpoints = shortSlice(m.Text, snap, m.Key)
		}
	case len(m.Problems) > 0 && views.HasPage(m.Key.Kind):
		m.Missing = "It cannot be read, and no earlier version of it is in use."
	case s.opts.Objects == nil && len(m.Links) > 0:
		m.Missing = "Its YAML is not at hand: an exported state keeps the objects of Istio only, and of others what became of them."
	default:
		return nil, nil, s.noObject(m.Key, allowed)
	}
	c := s.chrome(r, snap, views.SectionConfig, m.Key.String())
	m.State, m.History = c.State, s.historyOf(allowed, whole(func(t *journal.Transition) bool {
		return slices.ContainsFunc(t.Causes, func(c journal.Cause) bool { return sameObject(c.Key, m.Key) })
	}))
	return m, views.ObjectPage(c, m), nil
}

// findObject finds an Istio object in the snapshot and others in the source: in
// the cluster that the key names, or in the first that has it, which it then names.
// Only kinds that hold no secrets are shown.
func (s *Server) findObject(snap *state.Snapshot, key *model.ObjectKey) source.Object {
	clusters := []model.ClusterID{key.Cluster}
	if key.Cluster == "" {
		clusters = clusters[:0]
		for _, c := range s.core.Status().Source.Clusters {
			clusters = append(clusters, c.ID)
		}
	}
	if key.Kind.IsIstio() {
		for c := range snap.ConfigsIn(key.Kind, key.Namespace) {
			if o, ok := c.Object.(source.Object); ok && c.Key.Name == key.Name && (key.Cluster == "" || key.Cluster == c.Key.Cluster) {
				*key = c.Key
				return o
			}
		}
	}
	if s.opts.Objects == nil || !views.HasPage(key.Kind) {
		return nil
	}
	for _, id := range clusters {
		in := *key
		in.Cluster = id
		if o := s.opts.Objects.Get(in); o != nil {
			*key = in
			return o
		}
	}
	return nil
}

// sameObject compares two keys, of which one may not say its cluster.
func sameObject(a, b model.ObjectKey) bool {
	if a.Cluster == "" || b.Cluster == "" {
		a.Cluster, b.Cluster = "", ""
	}
	return a == b
}

// noObject is the error for an object that is not there, or not to be seen.
func (s *Server) noObject(key model.ObjectKey, allowed func(string) bool) error {
	return s.absent("no "+key.String(), func(t *journal.Transition) bool {
		return allowed(key.Namespace) && slices.ContainsFunc(t.Causes, func(c journal.Cause) bool {
			return c.Op == source.OpDelete && sameObject(c.Key, key)
		})
	})
}

// objectLinks are the places where one sees what became of an object: the services
// that it defines or offers addresses for, its proxy, its addresses.
func objectLinks(snap *state.Snapshot, key model.ObjectKey) []views.Link {
	var links, addresses []views.Link
	add := func(list *[]views.Link, l views.Link) {
		if !slices.Contains(*list, l) {
			*list = append(*list, l)
		}
	}
	if key.Kind == model.KindPod {
		for p := range snap.Proxies() {
			if sameObject(p.Pod, key) {
				add(&links, views.Link{Text: "the proxy", Href: views.ProxyURL(p.ID)})
			}
		}
	}
	candidate := func(c *model.Candidate) bool {
		of := c.Target != nil && sameObject(*c.Target, key)
		if of && len(addresses) < objectAddresses {
			add(&addresses, views.Link{Text: "address " + c.Address, Href: views.TraceURL(c.Address)})
		}
		return of
	}
	for svc := range snap.Services() {
		uses := slices.ContainsFunc(svc.Definitions, func(d *model.Service) bool { return sameObject(d.Object, key) })
		for _, sh := range svc.Shards {
			uses = uses || slices.ContainsFunc(sh.Chunks, func(c *state.Chunk) bool { return sameObject(c.Source, key) })
		}
		for _, c := range svc.Candidates() {
			uses = candidate(c) || uses
		}
		if uses {
			add(&links, views.Link{Text: "service " + svc.Key.String(), Href: views.ServiceURL(svc.Key)})
		}
	}
	return slices.Concat(links, addresses)
}
