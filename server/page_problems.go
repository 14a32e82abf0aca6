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

// troubles are how much is wrong, and the newest problems of the source, as every page
// shows them.
func (s *Server) troubles(snap *state.Snapshot) views.Troubles {
	status, wrong := s.core.Status().Source, s.wrongCounts(snap)
	t := views.Troubles{Wrong: wrong.Total(), Count: len(status.Problems), Mark: troubleMark(status)}
	byAge := slices.SortedStableFunc(slices.Values(status.Problems), func(a, b source.Problem) int { return b.Since.Compare(a.Since) })
	for _, p := range byAge[:min(len(byAge), newestProblems)] {
		t.Problems = append(t.Problems, newProblem(&p))
	}
	for _, p := range slices.Backward(status.Mended) {
		if s.present().Sub(p.Until) < mendedFor && len(t.Mended) < newestProblems {
			t.Mended = append(t.Mended, newProblem(&p))
		}
	}
	return t
}

// troubleMark changes whenever a problem comes or goes.
func troubleMark(status source.Status) string {
	var newest time.Time
	for i := range status.Problems {
		newest = later(newest, status.Problems[i].Since)
	}
	for i := range status.Mended {
		newest = later(newest, status.Mended[i].Until)
	}
	return fmt.Sprintf("%d-%d", len(status.Problems), newest.UnixNano())
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
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
