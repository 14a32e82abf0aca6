package server

import (
	"io"
	"iter"
	"math"
	"net/http"

	"github.com/edsight/edsight/core/debugz"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// pageJSON is one part of a list.
type pageJSON[T any] struct {
	// Version of the snapshot.
	Version uint64 `json:"version"`
	// Total is the number of elements that match.
	Total  int `json:"total"`
	Offset int `json:"offset"`
	Items  []T `json:"items"`
}

// newPage takes the elements which limit= and offset= of the query ask for.
func newPage[S, T any](r *http.Request, version uint64, all iter.Seq[S], show func(S) T) (*pageJSON[T], error) {
	limit, err := intOf(r, "limit", defaultLimit, maxLimit)
	if err != nil {
		return nil, err
	}
	p := &pageJSON[T]{Version: version, Items: []T{}}
	if p.Offset, err = intOf(r, "offset", 0, math.MaxInt); err != nil {
		return nil, err
	}
	for v := range all {
		p.Total++
		if p.Total > p.Offset && len(p.Items) < limit {
			p.Items = append(p.Items, show(v))
		}
	}
	return p, nil
}

// serviceJSON is a service in a list.
type serviceJSON struct {
	keyJSON
	Version     uint64               `json:"version"`
	Providers   []model.Provider     `json:"providers"`
	Address     string               `json:"address,omitempty"`
	Ports       []debugz.ServicePort `json:"ports"`
	Definitions int                  `json:"definitions"`
	Endpoints   int                  `json:"endpoints"`
	Candidates  int                  `json:"candidates"`
}

func newServiceJSON(svc *state.ServiceState) serviceJSON {
	j := serviceJSON{
		keyJSON: keyJSON(svc.Key), Version: svc.Version, Definitions: len(svc.Definitions),
		Providers: []model.Provider{}, Ports: []debugz.ServicePort{},
		Endpoints: svc.EndpointCount(), Candidates: svc.CandidateCount(),
	}
	for _, d := range svc.Definitions {
		j.Providers = append(j.Providers, d.Provider)
	}
	if d := svc.Definition(); d != nil {
		j.Address, j.Ports = d.DefaultAddress, debugz.NewService(d).Ports
	}
	return j
}

func (s *Server) apiServices(r *http.Request) (any, error) {
	snap := s.core.Snapshot()
	namespace, find := r.URL.Query().Get("namespace"), newSearch(r.URL.Query().Get("q"))
	matching := func(yield func(*state.ServiceState) bool) {
		for svc := range snap.Services() {
			if (namespace == "" || svc.Key.Namespace == namespace) && find.service(svc) && !yield(svc) {
				return
			}
		}
	}
	return newPage(r, snap.Version, matching, newServiceJSON)
}

func (s *Server) apiService(r *http.Request) (piecewise, error) {
	snap := s.core.Snapshot()
	svc, err := s.findService(r, snap)
	if err != nil {
		return nil, err
	}
	return func(w io.Writer, indent string) error {
		return debugz.WriteObject(w, func(yield func(string, any) bool) {
			definitions := make([]*debugz.Service, len(svc.Definitions))
			for i, d := range svc.Definitions {
				definitions[i] = debugz.NewService(d)
			}
			shards := make([]shardJSON, len(svc.Shards))
			for i, sh := range svc.Shards {
				shards[i] = newShard(sh)
			}
			_ = yield("snapshot", snap.Version) && yield("service", newServiceJSON(svc)) &&
				yield("definitions", definitions) && yield("shards", shards) &&
				yield("serviceAccounts", svc.ServiceAccounts)
		}, indent)
	}, nil
}
