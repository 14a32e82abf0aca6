package server

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// maxHits is how many hits of each kind a search lists.
const maxHits = 20

// finding gathers the hits of one search.
type finding struct {
	find  search
	may   explain.May
	exact []string // where a hit leads that is exactly the text
	hits  []views.Hits
	// offering are the services with a candidate of the address that is searched for,
	// whoever may see them: candidates are many, so they are gone through once.
	offering []*state.ServiceState
}

// handleSearch answers with the hits, or goes where the only exact one leads.
func (s *Server) handleSearch(w http.ResponseWriter, r *http.Request) error {
	snap, text := s.core.Snapshot(), strings.TrimSpace(r.URL.Query().Get("q"))
	f := &finding{find: newSearch(text), may: may(r)}
	if !f.find.empty() {
		s.findAll(f, snap)
	}
	if to := slices.Compact(f.exact); len(to) == 1 && !wantsJSON(r) {
		http.Redirect(w, r, to[0], http.StatusSeeOther)
		return nil
	}
	c := s.chrome(r, snap, views.SectionNone, "Search")
	c.Query = text
	m := views.Search{State: c.State, Query: text, Hits: f.hits}
	if m.Hits == nil {
		m.Hits = []views.Hits{}
		m.Gone, m.Then = s.gone(f)
	}
	w.Header().Add("Vary", "Accept")
	if wantsJSON(r) {
		return s.writeJSON(w, r, http.StatusOK, m)
	}
	return s.writePage(w, r, http.StatusOK, views.SearchPage(c, m))
}

func (s *Server) findAll(f *finding, snap *state.Snapshot) {
	if f.find.address != "" {
		for svc := range snap.Services() {
			if hasCandidate(svc, f.find.address) {
				f.offering = append(f.offering, svc)
			}
		}
	}
	f.services(snap)
	f.proxies(snap)
	f.pods(snap)
	f.unproxied(s, snap)
	f.objects(snap)
	f.reasons(snap)
	f.findings(s, snap)
	f.transition(s, snap)
}

// add counts a hit, and keeps it while there are few.
func (f *finding) add(h *views.Hits, l views.Link) {
	if h.Total++; len(h.Links) < maxHits {
		h.Links = append(h.Links, l)
	}
}

func (f *finding) keep(h views.Hits) {
	if h.Total > 0 {
		f.hits = append(f.hits, h)
	}
}

// is tells whether a name is exactly the text.
func (f *finding) is(name string) bool { return strings.EqualFold(name, f.find.text) }

func (f *finding) services(snap *state.Snapshot) {
	h := views.Hits{Kind: "services"}
	for svc := range snap.Services() {
		def := svc.Definition()
		vip := def != nil && f.find.address != "" && hasVIP(def, f.find.address)
		if !f.may(svc.Key.Namespace) || !vip && !f.service(svc) {
			continue // another, or not to be seen
		}
		to := views.ServiceURL(svc.Key)
		f.add(&h, views.Link{Text: svc.Key.String(), Href: to})
		if f.is(string(svc.Key.Hostname)) || f.is(svc.Key.String()) || vip {
			f.exact = append(f.exact, to)
		}
	}
	f.keep(h)
}

// service tells whether the service is what was searched for, but for its virtual
// addresses.
func (f *finding) service(svc *state.ServiceState) bool {
	if f.find.address != "" {
		return slices.Contains(f.offering, svc)
	}
	return f.find.service(svc)
}

func (f *finding) proxies(snap *state.Snapshot) {
	h := views.Hits{Kind: "proxies"}
	for p := range snap.Proxies() {
		if !f.may(p.Namespace) || !f.find.proxy(p) {
			continue // another, or not to be seen
		}
		f.add(&h, views.Link{Text: p.ID, Href: views.ProxyURL(p.ID)})
		if f.is(p.ID) || f.is(p.Namespace+"/"+p.Pod.Name) {
			f.exact = append(f.exact, views.ProxyURL(p.ID))
		}
	}
	f.keep(h)
}

// pods looks for workloads and slices by what candidates say of them, and for
// addresses.
func (f *finding) pods(snap *state.Snapshot) {
	h := views.Hits{Kind: "addresses and workloads"}
	seen := map[string]bool{}
	add := func(c *model.Candidate) {
		if !f.may(c.Source.Namespace) || c.Address == "" || !f.candidate(c) {
			return
		}
		if to := views.TraceURL(c.Address); !seen[to] {
			seen[to] = true
			text := c.Address
			if c.Target != nil {
				text += " · " + c.Target.String()
			}
			f.add(&h, views.Link{Text: text + " · " + c.Source.String(), Href: to})
		}
		if model.SameAddress(c.Address, f.find.address) || f.isObject(c.Target) {
			f.exact = append(f.exact, views.TraceURL(c.Address))
		}
	}
	services := snap.Services()
	if f.find.address != "" {
		services = slices.Values(f.offering)
	}
	for svc := range services {
		for _, c := range svc.Candidates() {
			add(c)
		}
	}
	for chunk := range snap.Strays() {
		for _, c := range chunk.Candidates {
			add(c)
		}
	}
	if h.Total == 0 && f.find.address != "" {
		f.add(&h, views.Link{Text: "everything about " + f.find.address, Href: views.TraceURL(f.find.address)})
	}
	f.keep(h)
	slices.Sort(f.exact)
}

// unproxied finds Pods without a proxy by their whole name.
func (f *finding) unproxied(s *Server, snap *state.Snapshot) {
	if f.find.address != "" || f.find.isLabel {
		return
	}
	h := views.Hits{Kind: "Pods without a proxy"}
	for _, p := range s.explainer.Unproxied(snap, f.find.text, f.may) {
		f.add(&h, views.Link{Text: p.Why, Href: views.ObjectURL(p.Pod)})
	}
	f.keep(h)
}

func (f *finding) candidate(c *model.Candidate) bool {
	switch {
	case f.find.address != "":
		return model.SameAddress(c.Address, f.find.address) || hasAddress(c.Endpoint, f.find.address)
	case f.find.isLabel:
		return f.find.labels(workloadOf(c).Labels)
	}
	for _, value := range workloadOf(c).Labels {
		if f.is(value) {
			return true
		}
	}
	return f.named(c.Target) || f.named(c.Source)
}

// named tells whether the text is part of the object's name, or names it with its kind.
func (f *finding) named(k *model.ObjectKey) bool {
	return k != nil && (f.find.object(*k) || (strings.Contains(f.find.text, "/") && f.is(k.String())))
}

func (f *finding) isObject(k *model.ObjectKey) bool {
	return k != nil && (f.is(k.Name) || f.is(k.Namespace+"/"+k.Name) || f.is(k.String()))
}

func (f *finding) objects(snap *state.Snapshot) {
	h := views.Hits{Kind: "Istio objects"}
	for c := range snap.Configs("") {
		if !f.may(c.Key.Namespace) || f.find.address != "" || f.find.isLabel || !f.named(&c.Key) {
			continue // another, or not to be seen
		}
		f.add(&h, views.Link{Text: c.Key.String(), Href: views.ConfigURL(c.Key)})
		if f.is(c.Key.Namespace+"/"+c.Key.Name) || f.is(c.Key.String()) {
			f.exact = append(f.exact, views.ConfigURL(c.Key))
		}
	}
	f.keep(h)
}

// transition looks for one by its number.
func (f *finding) transition(s *Server, snap *state.Snapshot) {
	seq, err := strconv.ParseUint(strings.TrimPrefix(f.find.text, "#"), 10, 64)
	if err == nil && s.core.Journal().Get(seq) != nil {
		f.hits = append(f.hits, views.Hits{Kind: "transitions", Total: 1, Links: []views.Link{{Text: "transition " + views.Number(int(seq)), Href: views.TransitionURL(seq)}}}) //nolint:gosec // a sequence number fits
		f.exact = append(f.exact, views.TransitionURL(seq))
		return
	}
	for svc := range snap.Services() {
		if !f.may(svc.Key.Namespace) {
			continue // not to be seen
		}
		if f.is(string(svc.Key.Hostname)) || slices.Contains(f.offering, svc) {
			f.hits = append(f.hits, views.Hits{Kind: "transitions", Total: 1, Links: []views.Link{{Text: "the feed of " + f.find.text, Href: feedURL(f.find)}}})
			return
		}
	}
}

func feedURL(f search) string {
	if f.address != "" {
		return views.FeedURL(f.address)
	}
	return "/?service=" + url.QueryEscape(f.text)
}
