package archive

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
)

// Write writes an archive of c to w, redacted unless c.Header says otherwise.
func Write(w io.Writer, c *Content) error {
	zw := gzip.NewWriter(w)
	buf := bufio.NewWriterSize(zw, 1<<16)
	e := &writer{enc: json.NewEncoder(buf), redact: &redactor{off: c.Header.Unredacted, names: map[string]bool{}}}
	e.enc.SetEscapeHTML(false)
	if err := e.content(c); err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	if err := buf.Flush(); err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	if err := zw.Close(); err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	return nil
}

// writer keeps the first error; records after it are not written.
type writer struct {
	enc     *json.Encoder
	redact  *redactor
	records int
	err     error
}

func (e *writer) put(r record) {
	if e.err == nil {
		e.err = e.enc.Encode(r)
		e.records++
	}
}

func (e *writer) content(c *Content) error {
	h := c.Header
	h.Format, h.Number = formatName, formatNumber
	h.Version, h.ConfigVersion, h.Time = c.Snapshot.Version, c.Snapshot.ConfigVersion, c.Snapshot.Time
	e.put(record{Header: &h})
	e.source(c)
	e.mesh(c.Snapshot.Mesh, c.Snapshot.Gateways())
	for cfg := range c.Snapshot.Configs("") {
		e.config(cfg)
	}
	for p := range c.Snapshot.Proxies() {
		e.put(record{Proxy: e.redact.proxy(p)})
	}
	for s := range c.Snapshot.Services() {
		e.service(s)
	}
	for s := range c.Snapshot.Strays() {
		in := newInterner(e.redact)
		r := strayRecord{Chunk: in.chunk(s)}
		r.table = in.table
		e.put(record{Stray: &r})
	}
	for _, t := range c.Transitions {
		e.transition(t)
	}
	e.put(record{End: &endRecord{Records: e.records, Redacted: e.redact.count}})
	return e.err
}

func (e *writer) source(c *Content) {
	s := c.Source
	s.Name = e.redact.text(s.Name)
	s.Clusters = slices.Clone(s.Clusters)
	for i := range s.Clusters {
		s.Clusters[i].Error = e.redact.text(s.Clusters[i].Error)
	}
	for _, list := range []*[]source.Problem{&s.Problems, &s.Mended} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].Message = e.redact.text((*list)[i].Message)
		}
	}
	e.put(record{Source: &s})
}

func (e *writer) mesh(m *state.Mesh, gateways []state.Gateway) {
	r := meshRecord{Settings: *m, Gateways: gateways}
	r.Settings.Config, r.Settings.Networks = nil, nil
	r.Config = e.raw("mesh configuration", m.Config)
	r.Networks = e.raw("mesh networks", m.Networks)
	e.put(record{Mesh: &r})
}

func (e *writer) config(c state.Config) {
	e.put(record{Config: &configRecord{Key: c.Key, Object: e.raw(c.Key.String(), c.Object)}})
}

// raw encodes a value of which only its own methods know how, and redacts it.
func (e *writer) raw(name string, v any) json.RawMessage {
	if e.err != nil {
		return nil
	}
	b, err := json.Marshal(v)
	if err == nil {
		b, err = e.redact.json(b)
	}
	if err != nil {
		e.err = fmt.Errorf("%s: %w", name, err)
	}
	return b
}

func (e *writer) service(s *state.ServiceState) {
	in := newInterner(e.redact)
	r := serviceRecord{
		Key: s.Key, Version: s.Version, ServiceAccounts: s.ServiceAccounts,
		Definitions: make([]*model.Service, len(s.Definitions)), Shards: in.shards(s.Shards),
	}
	for i, d := range s.Definitions {
		r.Definitions[i] = e.redact.service(d)
	}
	r.table = in.table
	e.put(record{Service: &r})
}

func (e *writer) transition(t *journal.Transition) {
	in := newInterner(e.redact)
	r := transitionRecord{
		Seq: t.Seq, Version: t.Version, Causes: t.Causes, Times: t.Times,
		Push: pushRecord{
			Type: t.Push.Scope.Type.String(), Again: t.Push.Again, Services: t.Push.Scope.Services,
			Triggers: t.Push.Triggers, Proxies: t.Push.Proxies, Because: t.Push.Because,
		},
	}
	d := t.Diff
	r.Configs, r.Strays, r.Mesh, r.Networks = d.Configs, d.Strays, d.Mesh, d.Networks
	for i := range d.Services {
		r.Services = append(r.Services, in.serviceChange(&d.Services[i]))
	}
	for _, p := range d.Proxies {
		r.Proxies = append(r.Proxies, &state.ProxyChange{ID: p.ID, Prev: e.redact.proxy(p.Prev), Next: e.redact.proxy(p.Next)})
	}
	r.table = in.table
	e.put(record{Transition: &r})
}

func (in *interner) serviceChange(c *state.ServiceChange) serviceChange {
	r := serviceChange{Key: c.Key, Came: c.Prev == nil, Went: c.Next == nil, Definition: c.Definition, Servers: c.Servers}
	for _, ec := range c.Endpoints {
		r.Endpoints = append(r.Endpoints, endpointChange{
			Provider: ec.Shard.Provider, Cluster: ec.Shard.Cluster,
			Before: in.candidate(ec.Before), After: in.candidate(ec.After),
		})
	}
	return r
}
