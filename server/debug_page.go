package server

import (
	"net/http"
	"net/url"

	"github.com/a-h/templ"

	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// debugPage shows the rows of the table of routes that make it up.
func (s *Server) debugPage(list []route) pageFunc {
	return func(r *http.Request) (any, templ.Component, error) {
		snap := s.core.Snapshot()
		rows := make([]views.DebugRow, len(list))
		for i, rt := range list {
			rows[i] = views.DebugRow{Method: rt.method, Path: rt.pattern, Help: rt.help, Href: s.debugURL(r, snap, &rt)}
		}
		c := s.anonymous("Debug handlers")
		if identityOf(r).role != roleNone {
			c = s.chrome(r, snap, views.SectionNone, c.Title)
		}
		return rows, views.DebugPage(c, rows), nil
	}
}

// debugURL is where a handler answers, for a proxy if it is about one; "" if there is no
// proxy, or if it is not to be read.
func (s *Server) debugURL(r *http.Request, snap *state.Snapshot, rt *route) string {
	if rt.mutates {
		return ""
	}
	if !rt.namespaced {
		return rt.pattern + "?pretty"
	}
	p := s.matchProxy(r, snap, "")
	if p == nil {
		return ""
	}
	return rt.pattern + "?pretty&proxyID=" + url.QueryEscape(p.ID)
}
