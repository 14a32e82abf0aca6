package server

import (
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/debugz"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// forProxy makes a handler about the proxy which the query names, as istiod's
// are: proxyID is a part of its ID, and the first that has it counts.
func (s *Server) forProxy(f func(*http.Request, *state.Snapshot, *model.Proxy) (piecewise, error)) handler {
	return s.stream(func(r *http.Request) (piecewise, error) {
		id := r.URL.Query().Get("proxyID")
		if id == "" {
			return nil, badRequest("You must provide a proxyID in the query string")
		}
		snap := s.core.Snapshot()
		p := s.matchProxy(r, snap, id)
		if p == nil {
			return nil, notFound("Proxy not connected to this Pilot instance. It may be connected to another instance.")
		}
		return f(r, snap, p)
	})
}

// matchProxy returns the proxy with the ID, else the first whose ID contains it,
// of those that the caller may see.
func (s *Server) matchProxy(r *http.Request, snap *state.Snapshot, id string) *model.Proxy {
	if p := visibleProxy(r, snap, id); p != nil {
		return p
	}
	for p := range snap.Proxies() {
		if strings.Contains(p.ID, id) && authorize(identityOf(r), actionRead, p.Namespace) {
			return p
		}
	}
	return nil
}

func (s *Server) clustersOf(snap *state.Snapshot, p *model.Proxy) []cds.Cluster {
	return cds.BuildIn(s.scopes.For(snap, p), snap, p)
}

func (s *Server) assignments(_ *http.Request, snap *state.Snapshot, p *model.Proxy) (piecewise, error) {
	clusters := s.clustersOf(snap, p)
	return func(w io.Writer, indent string) error {
		return debugz.WriteConfigs(w, s.texts.Of(clusters), indent)
	}, nil
}

func (s *Server) configDump(r *http.Request, snap *state.Snapshot, p *model.Proxy) (piecewise, error) {
	clusters := s.clustersOf(snap, p)
	endpoints := s.texts.Of(clusters)
	if r.URL.Query().Get("include_eds") == "false" {
		endpoints = nil
	}
	dump, err := debugz.ConfigDumpJSON(clusters, snap.Mesh, endpoints)
	return func(w io.Writer, indent string) error {
		return debugz.WriteConfigs(w, slices.Values(dump), indent)
	}, err
}

func (s *Server) sidecar(_ *http.Request, snap *state.Snapshot, p *model.Proxy) (piecewise, error) {
	body := debugz.Sidecar(snap, p)
	return func(w io.Writer, indent string) error { return encodeTo(w, body, indent) }, nil
}
