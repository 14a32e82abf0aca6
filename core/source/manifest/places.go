package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// place is where a field begins in a JSON text.
type place struct {
	path  string
	start int
}

// places lists every field of a JSON text in order. It is used to find out where
// an error is, so it may be slow. It ends at the first syntax error.
func places(data []byte) []place {
	p := &placer{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	p.value("")
	return p.found
}

type placer struct {
	data  []byte
	dec   *json.Decoder
	found []place
}

// value reads one value and tells whether there was one.
func (p *placer) value(path string) bool {
	tok, err := p.dec.Token()
	if err != nil {
		return false
	}
	switch tok {
	case json.Delim('{'):
		for p.dec.More() {
			start := p.next()
			name, err := p.dec.Token()
			if err != nil {
				return false
			}
			field := strings.TrimPrefix(fmt.Sprintf("%s.%v", path, name), ".")
			p.found = append(p.found, place{field, start})
			if !p.value(field) {
				return false
			}
		}
	case json.Delim('['):
		for i := 0; p.dec.More(); i++ {
			field := fmt.Sprintf("%s[%d]", path, i)
			p.found = append(p.found, place{field, p.next()})
			if !p.value(field) {
				return false
			}
		}
	default:
		return true
	}
	_, err = p.dec.Token()
	return err == nil
}

// next is the offset of the next token.
func (p *placer) next() int {
	at := int(p.dec.InputOffset())
	for at < len(p.data) && bytes.IndexByte([]byte(" \t\r\n,:"), p.data[at]) >= 0 {
		at++
	}
	return at
}

// placeAt returns the last field that begins at or before offset.
func placeAt(all []place, offset int) place {
	var at place
	for _, p := range all {
		if p.start > offset {
			break
		}
		at = p
	}
	return at
}

// placeOf returns the field of that path, or else the nearest above it.
func placeOf(all []place, path string) place {
	best := place{}
	for _, p := range all {
		if p.path == path {
			return p
		}
		if rest, ok := strings.CutPrefix(path, p.path); ok && (rest[0] == '.' || rest[0] == '[') && len(p.path) > len(best.path) {
			best = p
		}
	}
	return best
}
