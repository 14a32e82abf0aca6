package server

import (
	"io"
	"iter"
	"net/http"
	"slices"

	"github.com/edsight/edsight/core/debugz"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// configJSON is an object as configz shows it, with where it comes from and what
// is wrong with it beside: readers of configz pass over members that they do not
// know.
type configJSON struct {
	*debugz.Config
	Source   originJSON      `json:"source"`
	Problems []views.Problem `json:"problems,omitempty"`
}

// originJSON is where an object comes from.
type originJSON struct {
	Cluster model.ClusterID `json:"cluster,omitempty"`
	// Where is "file:line", "" for an object of an API server.
	Where string `json:"where,omitempty"`
}

// apiConfig writes the objects as they are encoded, and what is wrong with them.
func (s *Server) apiConfig(*http.Request) (piecewise, error) {
	snap, st := s.core.Snapshot(), s.core.Status()
	problems := s.problems(snap, st.Source)
	type part struct {
		name  string
		value any
	}
	parts := []part{
		{"version", snap.Version},
		{"configVersion", snap.ConfigVersion},
		{"source", st.Source},
		{"mesh", snap.Mesh.Config},
		{"networks", snap.Mesh.Networks},
		{"problems", problems},
	}
	return func(w io.Writer, indent string) error {
		return debugz.WriteObject(w, func(yield func(string, any) bool) {
			for _, p := range parts {
				if !yield(p.name, p.value) {
					return
				}
			}
			yield("objects", slices.AppendSeq([]configJSON{}, s.judged(snap.Configs(""), problems)))
		}, indent)
	}, nil
}

// judgedConfigs is the answer of configz with problems.
func (s *Server) judgedConfigs(snap *state.Snapshot) piecewise {
	problems := s.problems(snap, s.core.Status().Source)
	istio := func(yield func(state.Config) bool) {
		for c := range snap.Configs("") {
			if c.Key.Kind.IsIstio() && !yield(c) {
				return
			}
		}
	}
	return func(w io.Writer, indent string) error {
		return debugz.WriteList(w, s.judged(istio, problems), indent)
	}
}

// judged says of each object where it comes from and what is wrong with it.
func (s *Server) judged(configs iter.Seq[state.Config], problems []views.Problem) iter.Seq[configJSON] {
	of := map[model.ObjectKey][]views.Problem{}
	for _, p := range problems {
		of[p.Object] = append(of[p.Object], p)
	}
	return func(yield func(configJSON) bool) {
		for c := range configs {
			j := configJSON{Config: debugz.NewConfig(c), Source: originJSON{c.Key.Cluster, s.whereIs(c.Key)}, Problems: of[c.Key]}
			if !yield(j) {
				return
			}
		}
	}
}

// whereIs gives the place of an object in the files that are read, "" if it is in
// none.
func (s *Server) whereIs(key model.ObjectKey) string {
	if l, ok := s.opts.Objects.(source.Locator); ok {
		return l.Where(key)
	}
	return ""
}
