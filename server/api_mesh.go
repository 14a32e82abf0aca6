package server

import (
	"net/http"
	"slices"

	"github.com/edsight/edsight/core/audit"
	"github.com/edsight/edsight/views"
)

// clustersJSON is the clusters and networks of the mesh.
type clustersJSON struct {
	// Version of the snapshot.
	Version  uint64             `json:"version"`
	Clusters []views.ClusterSum `json:"clusters"`
	Networks []views.NetworkSum `json:"networks"`
}

func (s *Server) apiClusters(*http.Request) (any, error) {
	snap := s.core.Snapshot()
	clusters, networks := s.meshSums(snap)
	return clustersJSON{snap.Version, clusters, networks}, nil
}

// slicesJSON is a part of what is wrong with slices, and how many were looked at.
type slicesJSON struct {
	pageJSON[views.Finding]
	Slices    int `json:"slices"`
	Endpoints int `json:"endpoints"`
	// Partial tells that the objects are not at hand, so that what only they tell is
	// left out.
	Partial bool `json:"partial,omitempty"`
}

func (s *Server) apiSlices(r *http.Request) (any, error) {
	snap, q := s.core.Snapshot(), r.URL.Query()
	found := s.findingsOf(snap, q)
	if kind := q.Get("kind"); kind != "" {
		found = slices.DeleteFunc(found, func(f audit.Finding) bool { return string(f.Kind) != kind })
	}
	page, err := newPage(r, snap.Version, slices.Values(found), s.showFinding(snap, may(r)))
	if err != nil {
		return nil, err
	}
	j := slicesJSON{pageJSON: *page, Partial: s.opts.Objects == nil}
	j.Slices, j.Endpoints = countSlices(snap)
	return j, nil
}
