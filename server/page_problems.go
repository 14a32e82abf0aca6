package server

import (
	"fmt"
	"slices"
	"time"

	"github.com/edsight/edsight/core/audit"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// problems are what cannot be read, then what was read and has no effect.
func (s *Server) problems(snap *state.Snapshot, status source.Status) []views.Problem {
	list := make([]views.Problem, 0, len(status.Problems))
	for i := range status.Problems {
		list = append(list, newProblem(&status.Problems[i]))
	}
	for _, p := range append(s.meshProblems(snap, status), audit.Config(snap)...) {
		list = append(list, views.Problem{Object: p.Object, Field: p.Field, Message: p.Message, Remedy: p.Remedy})
	}
	return list
}

const (
	// newestProblems is how many problems stand above the feed, and mendedFor how
	// long it says that one is mended.
	newestProblems = 3
	mendedFor      = 10 * time.Minute
)

// troubles are the newest problems of the source, as every page shows them.
func (s *Server) troubles() views.Troubles {
	status := s.core.Status().Source
	t := views.Troubles{Count: len(status.Problems)}
	byAge := slices.SortedStableFunc(slices.Values(status.Problems), func(a, b source.Problem) int { return b.Since.Compare(a.Since) })
	for _, p := range byAge[:min(len(byAge), newestProblems)] {
		t.Problems = append(t.Problems, newProblem(&p))
	}
	newest := time.Time{}
	if len(byAge) > 0 {
		newest = byAge[0].Since
	}
	for _, p := range slices.Backward(status.Mended) {
		if s.present().Sub(p.Until) < mendedFor && len(t.Mended) < newestProblems {
			t.Mended = append(t.Mended, newProblem(&p))
		}
		if p.Until.After(newest) {
			newest = p.Until
		}
	}
	t.Mark = fmt.Sprintf("%d-%d", t.Count, newest.UnixNano())
	return t
}

func newProblem(p *source.Problem) views.Problem {
	return views.Problem{Object: p.Object, Where: p.Where, Field: p.Field, Message: p.Message, Since: p.Since, Until: p.Until}
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
