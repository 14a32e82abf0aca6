package debugz

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"
)

// flushSize is how much is gathered before it is written.
const flushSize = 32 << 10

// WriteList writes the items as a JSON list, each as soon as it is there. With
// an indent each level is on lines of its own.
func WriteList[T any](w io.Writer, items iter.Seq[T], indent string) error {
	p := newParts(w, "", indent)
	return writeItems(p, items, "\n")
}

// WriteConfigs writes the items as the list "configs" of a JSON object, as edsz
// and config_dump have it.
func WriteConfigs[T any](w io.Writer, items iter.Seq[T], indent string) error {
	p := newParts(w, indent, indent)
	p.buf.WriteByte('{')
	p.newline(indent)
	p.buf.WriteString(`"configs":`)
	if indent != "" {
		p.buf.WriteByte(' ')
	}
	end := "}\n"
	if indent != "" {
		end = "\n}\n"
	}
	return writeItems(p, items, end)
}

func writeItems[T any](p *parts, items iter.Seq[T], end string) error {
	p.buf.WriteByte('[')
	for v := range items {
		if err := p.add("", v); err != nil {
			return err
		}
	}
	return p.end("]" + end)
}

// WriteObject writes the members as a JSON object, each as soon as it is there.
func WriteObject[V any](w io.Writer, members iter.Seq2[string, V], indent string) error {
	p := newParts(w, "", indent)
	p.buf.WriteByte('{')
	for k, v := range members {
		name, err := json.Marshal(k)
		if err != nil {
			return err
		}
		if err := p.add(string(name), v); err != nil {
			return err
		}
	}
	return p.end("}\n")
}

// parts writes the elements of one JSON list or object, which itself is indented
// by prefix.
type parts struct {
	w              io.Writer
	buf            bytes.Buffer
	enc            *json.Encoder
	prefix, indent string
	count          int
}

func newParts(w io.Writer, prefix, indent string) *parts {
	p := &parts{w: w, prefix: prefix, indent: indent}
	p.enc = json.NewEncoder(&p.buf)
	p.enc.SetIndent(prefix+indent, indent)
	return p
}

func (p *parts) add(name string, v any) error {
	if p.count > 0 {
		p.buf.WriteByte(',')
	}
	p.count++
	p.newline(p.prefix + p.indent)
	if name != "" {
		p.buf.WriteString(name)
		p.buf.WriteByte(':')
		if p.indent != "" {
			p.buf.WriteByte(' ')
		}
	}
	if err := p.value(v); err != nil {
		return err
	}
	if p.buf.Len() < flushSize {
		return nil
	}
	return p.flush()
}

// appender writes its JSON at once; the encoder would read it all again.
type appender interface{ AppendJSON(b []byte) []byte }

func (p *parts) value(v any) error {
	if p.indent == "" {
		switch one := v.(type) {
		case appender:
			p.buf.Write(one.AppendJSON(p.buf.AvailableBuffer()))
			return nil
		case io.WriterTo: // too long to be gathered
			if err := p.flush(); err != nil {
				return err
			}
			_, err := one.WriteTo(p.w)
			return err
		}
	}
	if err := p.enc.Encode(v); err != nil {
		return err
	}
	p.buf.Truncate(p.buf.Len() - 1) // the encoder's newline
	return nil
}

func (p *parts) end(closing string) error {
	if p.count > 0 {
		p.newline(p.prefix)
	}
	p.buf.WriteString(closing)
	return p.flush()
}

func (p *parts) newline(prefix string) {
	if p.indent != "" {
		p.buf.WriteByte('\n')
		p.buf.WriteString(prefix)
	}
}

func (p *parts) flush() error {
	_, err := p.buf.WriteTo(p.w)
	return err
}
