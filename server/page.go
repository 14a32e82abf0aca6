package server

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// pageRoutes are the pages and the static files.
func (s *Server) pageRoutes() []route {
	page := func(pattern, help string, f pageFunc) route {
		return route{method: http.MethodGet, pattern: pattern, help: help, handle: s.page(f)}
	}
	proxy := page("/proxies/{id}", "one proxy: its clusters and endpoints, and what it does not get", s.proxyPage)
	service := page("/services/{ns}/{host}", "one service: its addresses from the slice to the shard", s.servicePage)
	proxy.namespaced, service.namespaced = true, true
	return []route{
		page("/", "the pipeline and the live feed of transitions", s.livePage),
		page("/wrong", "what is wrong now: services in trouble, slices, configuration", s.wrongPage),
		page("/transitions/{seq}", "one transition: causes, differences, decision", s.transitionPage),
		page("/services", "the services; q= searches by host, IP and label", s.servicesPage),
		service,
		page("/proxies", "the proxies; q= searches by name, IP and label", s.proxiesPage),
		proxy,
		page("/pushes", "what was pushed, why, and who caused it", s.pushesPage),
		page("/slices", "what is wrong with EndpointSlices; kind=, namespace= and q= filter", s.slicesPage),
		page("/clusters", "the clusters that are watched, and the networks with their gateways", s.clustersPage),
		page("/config", "Istio objects, mesh configuration and problems", s.configPage),
		page("/config/{kind}/{ns}/{name}", "one Istio object", s.objectPage),
		{method: http.MethodGet, pattern: "/static/{version}/{file}", help: "styles, scripts and icons", access: accessPublic, handle: s.staticFile},
	}
}

// chrome is what surrounds a page about the snapshot.
func (s *Server) chrome(r *http.Request, snap *state.Snapshot, section views.Section, title string) views.Chrome {
	base, query := pathOf(r.URL), ""
	if r.URL.RawQuery != "" {
		query = "?" + r.URL.Query().Encode()
	}
	c := views.Chrome{
		Title: title, Section: section, Now: s.present(), Exported: !s.opts.Exported.IsZero(), Assets: s.assets, State: s.state(snap),
		JSON: base + ".json" + query, Curl: curl(r, base+query), Tokens: s.opts.Token != "", Warnings: s.warnings(),
	}
	if may(r)("") {
		c.Troubles = s.troubles(snap)
	}
	if section == views.SectionServices {
		c.Query = r.URL.Query().Get("q")
	}
	return c
}

// pathOf is the path with each of its parts escaped like a link's, whatever the
// caller wrote, and a name that ends in ".json" not to be taken for a twin.
func pathOf(u *url.URL) string {
	parts := strings.Split(u.EscapedPath(), "/")
	for i, p := range parts {
		if text, err := url.PathUnescape(p); err == nil {
			parts[i] = url.PathEscape(text)
		}
	}
	path := strings.Join(parts, "/")
	if name, ok := strings.CutSuffix(path, ".json"); ok {
		return name + "%2Ejson"
	}
	return path
}

// state says which moment a page shows.
func (s *Server) state(snap *state.Snapshot) views.State {
	status, j := s.core.Status(), s.core.Journal()
	st := views.State{Version: snap.Version, Seq: j.Last(), Ready: status.Ready, Source: status.Source.Name}
	if t := j.Get(st.Seq); t != nil {
		st.LastEvent = t.Times.Seen
	}
	return st
}

// warnings are what everybody should know who looks at any page.
func (s *Server) warnings() []string {
	var w []string
	if s.opts.Banner != "" {
		w = append(w, s.opts.Banner)
	}
	status := s.core.Status()
	if !status.Ready {
		w = append(w, "the first complete state is not there yet; "+views.Count(status.Waiting, "object waits", "objects wait")+" to be looked at")
	}
	for _, c := range status.Source.Clusters {
		if !c.Connected {
			w = append(w, "cluster "+string(c.ID)+" cannot be reached; it was last heard of "+views.Age(c.LastEvent, s.present())+", and what was known then is shown")
		}
	}
	return w
}

// curl is the command that fetches the JSON twin of a page. The token is named
// and not given.
func curl(r *http.Request, uri string) string {
	return `curl -H "Authorization: Bearer $EDSIGHT_TOKEN" -H 'Accept: application/json' ` + quoted(r, uri)
}

// quoted is the whole URL, as a shell takes it.
func quoted(r *http.Request, uri string) string {
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	return "'" + strings.ReplaceAll(scheme+r.Host+uri, "'", "%27") + "'"
}

// anonymous is what surrounds a page for somebody who may see nothing yet.
func (s *Server) anonymous(title string) views.Chrome {
	return views.Chrome{Title: title, Now: s.now(), Assets: s.assets, Anonymous: true}
}

// errorPage says what went wrong and what to do next.
func (s *Server) errorPage(r *http.Request, e *httpError) templ.Component {
	m := views.Error{Status: e.Status, Title: http.StatusText(e.Status), Message: e.Message, Ask: e.Ask}
	if identityOf(r).role == roleNone {
		m.Next = []views.Link{{Text: "Log in", Href: "/login"}}
		return views.ErrorPage(s.anonymous(m.Title), m)
	}
	m.Next = slices.Concat(e.Next, nextSteps(r.URL))
	section := views.SectionNone
	if e.Ask != nil {
		section = views.SectionExplain
	}
	c := s.chrome(r, s.core.Snapshot(), section, m.Title)
	c.JSON, c.Curl = "", ""
	return views.ErrorPage(c, m)
}

// nextSteps are the places where what was looked for may be found.
func nextSteps(u *url.URL) []views.Link {
	parts := strings.Split(strings.TrimSuffix(strings.Trim(u.Path, "/"), "/compare"), "/")
	last := parts[len(parts)-1]
	var links []views.Link
	if last != "" && len(parts) > 1 {
		links = append(links, views.Link{Text: "Search for " + last, Href: "/search?q=" + url.QueryEscape(last)})
	}
	return append(links,
		views.Link{Text: "Go to the live feed", Href: "/"},
		views.Link{Text: "See all services", Href: "/services"},
		views.Link{Text: "See all proxies", Href: "/proxies"},
		views.Link{Text: "See whether the source has problems", Href: "/config"})
}

// loginPage says how to log in; it has the form that posts "token" to /login.
// The message is the error of the last attempt, or "".
func (s *Server) loginPage(_ *http.Request, message string) templ.Component {
	return views.LoginPage(s.anonymous("Log in"), views.Login{Message: message})
}

// liveFrame is the row of the feed which shows the transition.
func (s *Server) liveFrame(t *journal.Transition) ([]byte, error) {
	return render(context.Background(), views.FeedRow(s.newRow(t)))
}

// gapFrame is the row of the feed which says what is missing.
func (s *Server) gapFrame(g *journal.Gap) ([]byte, error) {
	return render(context.Background(), views.GapRow(*newGap(g)))
}

func render(ctx context.Context, c templ.Component) ([]byte, error) {
	var b bytes.Buffer
	err := c.Render(ctx, &b)
	return b.Bytes(), err
}
