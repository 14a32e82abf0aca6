package server

import (
	"github.com/edsight/edsight/core/audit"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// problems are what cannot be read, then what was read and has no effect.
func (s *Server) problems(snap *state.Snapshot, status source.Status) []views.Problem {
	list := make([]views.Problem, 0, len(status.Problems))
	for _, p := range status.Problems {
		list = append(list, views.Problem{Object: p.Object, Where: p.Where, Field: p.Field, Message: p.Message, Since: p.Since})
	}
	for _, p := range append(s.meshProblems(snap, status), audit.Config(snap)...) {
		list = append(list, views.Problem{Object: p.Object, Field: p.Field, Message: p.Message, Remedy: p.Remedy})
	}
	return list
}

// meshProblems looks for the ConfigMap of the mesh in the first cluster that has
// one.
func (s *Server) meshProblems(snap *state.Snapshot, status source.Status) []audit.Problem {
	if s.opts.Objects == nil {
		return nil
	}
	for _, c := range status.Clusters {
		key := model.ObjectKey{Cluster: c.ID, Kind: model.KindConfigMap, Namespace: snap.Mesh.SystemNamespace, Name: "istio"}
		if o := s.opts.Objects.Get(key); o != nil {
			return audit.Mesh(key, o)
		}
	}
	return nil
}
