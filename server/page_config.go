package server

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/a-h/templ"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

func (s *Server) configPage(r *http.Request) (any, templ.Component, error) {
	win, err := newWindow(r)
	if err != nil {
		return nil, nil, err
	}
	snap, status, q := s.core.Snapshot(), s.core.Status().Source, r.URL.Query()
	c := s.chrome(r, snap, views.SectionConfig, "Config")
	m := views.Config{
		State: c.State, Kind: q.Get("kind"), Query: q.Get("q"), Problems: s.problems(snap, status),
		Objects: []views.ConfigRow{}, Kinds: []views.KindCount{},
	}
	countKinds(&m, snap)
	problems := problemCounts(m.Problems)
	find := newSearch(m.Query)
	for o := range snap.Configs(model.Kind(m.Kind)) {
		if find.object(o.Key) && win.next() {
			m.Objects = append(m.Objects, views.ConfigRow{
				Key: o.Key, Created: o.Object.GetCreationTimestamp().Time,
				Version: o.Object.GetResourceVersion(), Problems: problems[o.Key],
			})
		}
	}
	m.Page = win.page()
	if m.Mesh, err = protoText(snap.Mesh.Config); err != nil {
		return nil, nil, err
	}
	if m.Networks, err = protoText(snap.Mesh.Networks); err != nil {
		return nil, nil, err
	}
	return m, views.ConfigPage(c, m), nil
}

func countKinds(m *views.Config, snap *state.Snapshot) {
	for o := range snap.Configs("") {
		if n := len(m.Kinds); n == 0 || m.Kinds[n-1].Kind != o.Key.Kind {
			m.Kinds = append(m.Kinds, views.KindCount{Kind: o.Key.Kind})
		}
		m.Kinds[len(m.Kinds)-1].Count++
	}
}

func problemCounts(list []views.Problem) map[model.ObjectKey]int {
	counts := map[model.ObjectKey]int{}
	for i := range list {
		counts[list[i].Object]++
	}
	return counts
}

// protoText is the message as indented JSON.
func protoText(m proto.Message) (json.RawMessage, error) {
	text, err := protojson.Marshal(m)
	if err != nil {
		return nil, err
	}
	// protojson varies its white space on purpose.
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
