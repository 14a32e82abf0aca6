package server

import (
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/a-h/templ"

	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// feedRows is how many transitions one page shows.
const feedRows = 100

func (s *Server) livePage(r *http.Request) (any, templ.Component, error) {
	f, err := newFilter(r.URL.Query())
	if err != nil {
		return nil, nil, err
	}
	before, err := seqOf(r, "before")
	if err != nil {
		return nil, nil, err
	}
	// The newest number is read before the rows, so that the websocket goes on
	// without a hole; what comes twice is passed over.
	snap := s.core.Snapshot()
	c := s.chrome(r, snap, views.SectionLive, "Live")
	c.Live = f.query().Encode()
	m := views.Live{
		State: c.State, Stations: s.stations(snap), Troubles: c.Troubles, Wrong: s.wrongCounts(snap), Namespaces: namespaces(snap), Following: before == 0 && !c.Exported,
		Feed: s.newFeed(feedQuery{filter: f, before: before, path: "/"}),
	}
	return m, views.LivePage(c, m), nil
}

// feedQuery says which part of the journal a page shows.
type feedQuery struct {
	filter filter
	before uint64 // only transitions before this one; 0 means all
	path   string // of the page
}

// newFeed shows the newest transitions that are wanted.
func (s *Server) newFeed(q feedQuery) views.Feed {
	j := s.core.Journal()
	feed := views.Feed{Filter: q.filter.view(), Rows: []views.Row{}}
	all := j.Since(1, math.MaxInt)
	for _, t := range slices.Backward(all.Transitions) {
		if (q.before != 0 && t.Seq >= q.before) || !q.filter.wants(t, s.concerns) {
			continue
		}
		if len(feed.Rows) == feedRows {
			feed.Older = q.url(feed.Rows[feedRows-1].Seq)
			break
		}
		feed.Rows = append(feed.Rows, s.newRow(t))
	}
	if feed.Older == "" {
		feed.Gap = newGap(all.Gap)
	}
	if q.before != 0 {
		feed.Newer = q.url(0)
	}
	return feed
}

// url is the same page from before that transition on.
func (q feedQuery) url(before uint64) string {
	v := q.filter.query()
	if before != 0 {
		v.Set("before", strconv.FormatUint(before, 10))
	}
	return withQuery(q.path, v)
}

func withQuery(path string, v url.Values) string {
	if len(v) == 0 {
		return path
	}
	return path + "?" + v.Encode()
}

// query is the filter as newFilter reads it.
func (f filter) query() url.Values {
	v := url.Values{}
	for _, p := range [][2]string{
		{"namespace", f.namespace},
		{"service", f.service},
		{"proxy", f.proxy},
		{"address", f.address},
		{"push", f.push},
	} {
		if p[1] != "" {
			v.Set(p[0], p[1])
		}
	}
	return v
}

func (f filter) view() views.Filter {
	return views.Filter{Namespace: f.namespace, Service: f.service, Proxy: f.proxy, Address: f.address, Push: f.push}
}

// namespaces lists those that have a service, in order.
func namespaces(snap *state.Snapshot) []string {
	seen := map[string]bool{}
	var list []string
	for svc := range snap.Services() {
		if ns := svc.Key.Namespace; !seen[ns] {
			seen[ns] = true
			list = append(list, ns)
		}
	}
	slices.Sort(list)
	return list
}

// seqOf reads a sequence number of the query; 0 if it is absent.
func seqOf(r *http.Request, name string) (uint64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, badRequest("%s is a sequence number, not %q", name, text)
	}
	return n, nil
}
