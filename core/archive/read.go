package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	meshconfig "istio.io/api/mesh/v1alpha1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// Read reads an archive. Its errors wrap ErrFormat or ErrLimit where these say
// what is wrong.
func Read(r io.Reader, limits Limits) (*Content, error) {
	l, err := newLines(r, limits)
	if err != nil {
		return nil, fmt.Errorf("read archive: %w", err)
	}
	d := newReader()
	var line []byte
	for number := 1; !d.ended; number++ {
		if line, err = l.next(line); err == nil {
			err = d.line(line)
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, fmt.Errorf("read archive: line %d: %w", number, err)
		}
	}
	if _, err := l.next(line); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read archive: %w: there is more after its end", ErrFormat)
	}
	return d.finish(), nil
}

// reader puts a Content together, record by record.
type reader struct {
	content Content
	builder *state.Builder
	reasons map[string]model.Reason
	records int
	ended   bool
}

func newReader() *reader {
	d := &reader{builder: state.NewBuilder(state.Empty()), reasons: map[string]model.Reason{"": model.ReasonNone}}
	for _, r := range model.Reasons() {
		d.reasons[r.String()] = r
	}
	return d
}

func (d *reader) line(b []byte) error {
	var r record
	if err := json.Unmarshal(b, &r); err != nil {
		if d.records == 0 {
			return fmt.Errorf("%w: %w", ErrFormat, err)
		}
		return err
	}
	if (d.records == 0) != (r.Header != nil) {
		return fmt.Errorf("%w: the header is not the first line and the only one", ErrFormat)
	}
	if err := d.record(&r); err != nil {
		return err
	}
	d.records++
	return nil
}

func (d *reader) record(r *record) error {
	switch {
	case r.Header != nil:
		return d.header(r.Header)
	case r.Source != nil:
		d.content.Source = *r.Source
		return nil
	case r.Mesh != nil:
		return d.mesh(r.Mesh)
	case r.Config != nil:
		return d.config(r.Config)
	case r.Proxy != nil:
		return d.proxy(r.Proxy)
	case r.Service != nil:
		return d.service(r.Service)
	case r.Stray != nil:
		return d.stray(r.Stray)
	case r.Transition != nil:
		return d.transition(r.Transition)
	case r.End != nil:
		return d.end(r.End)
	}
	return errors.New("the record holds nothing that this version knows")
}

func (d *reader) header(h *Header) error {
	if h.Format != formatName {
		return ErrFormat
	}
	if h.Number != formatNumber {
		return fmt.Errorf("the archive's format is %d, this version reads %d", h.Number, formatNumber)
	}
	d.content.Header = *h
	return nil
}

func (d *reader) mesh(r *meshRecord) error {
	m := r.Settings
	m.Config, m.Networks = &meshconfig.MeshConfig{}, &meshconfig.MeshNetworks{}
	if err := json.Unmarshal(r.Config, m.Config); err != nil {
		return fmt.Errorf("mesh configuration: %w", err)
	}
	if err := json.Unmarshal(r.Networks, m.Networks); err != nil {
		return fmt.Errorf("mesh networks: %w", err)
	}
	d.builder.SetMesh(&m)
	d.builder.SetGateways(r.Gateways)
	return nil
}

func (d *reader) config(r *configRecord) error {
	o := newObject(r.Key.Kind)
	if o == nil {
		return fmt.Errorf("%s: not a kind of Istio's", r.Key)
	}
	if _, ok := d.builder.Current().Config(r.Key); ok {
		return fmt.Errorf("%s: said twice", r.Key)
	}
	if err := json.Unmarshal(r.Object, o); err != nil {
		return fmt.Errorf("%s: %w", r.Key, err)
	}
	if o.GetName() != r.Key.Name || o.GetNamespace() != r.Key.Namespace {
		return fmt.Errorf("%s: the object's name is %s/%s", r.Key, o.GetNamespace(), o.GetName())
	}
	d.builder.SetConfig(state.Config{Key: r.Key, Object: o})
	return nil
}

func (d *reader) proxy(p *model.Proxy) error {
	if d.builder.Current().Proxy(p.ID) != nil {
		return fmt.Errorf("proxy %s: said twice", p.ID)
	}
	d.builder.SetProxy(p.ID, p)
	return nil
}

func (d *reader) service(r *serviceRecord) error {
	if d.builder.Current().Service(r.Key) != nil {
		return fmt.Errorf("service %s: said twice", r.Key)
	}
	if slices.Contains(r.Definitions, nil) {
		return fmt.Errorf("service %s: a definition is null", r.Key)
	}
	t, err := d.table(&r.table)
	if err != nil {
		return fmt.Errorf("service %s: %w", r.Key, err)
	}
	s := &state.ServiceState{Key: r.Key, Version: r.Version, Definitions: r.Definitions, ServiceAccounts: r.ServiceAccounts}
	for i := range r.Shards {
		shard, err := t.shard(&r.Shards[i])
		if err != nil {
			return fmt.Errorf("service %s: %w", r.Key, err)
		}
		s.Shards = append(s.Shards, shard)
	}
	d.builder.SetService(r.Key, s)
	return nil
}

func (d *reader) stray(r *strayRecord) error {
	t, err := d.table(&r.table)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Chunk.Source, err)
	}
	c, err := t.chunk(&r.Chunk)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Chunk.Source, err)
	}
	d.builder.SetStray(c.Source, c)
	return nil
}

func (d *reader) end(r *endRecord) error {
	if r.Records != d.records {
		return fmt.Errorf("%w: it has %d records and says %d", ErrFormat, d.records, r.Records)
	}
	d.content.Header.Redacted = r.Redacted
	d.ended = true
	return nil
}

func (d *reader) finish() *Content {
	h := d.content.Header
	s := d.builder.Snapshot(h.Time)
	s.Version, s.ConfigVersion = h.Version, h.ConfigVersion
	d.content.Snapshot = s
	return &d.content
}
