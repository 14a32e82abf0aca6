package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// syntaxError is an error on a line of the file.
type syntaxError struct {
	line    int
	message string
}

// toJSON turns one YAML document into JSON which has every key and value on the
// line on which the YAML has it, so that positions in the JSON are positions in
// the file. A document without content gives no text.
func toJSON(doc text) (text, *syntaxError) {
	var root yaml.Node
	if err := yaml.Unmarshal(doc.text, &root); err != nil {
		bad := yamlError(doc.line, err)
		if line, ok := brokenLine(doc.text); ok {
			bad.line = doc.line + line
		}
		return text{}, bad
	}
	if root.Kind == 0 {
		return text{}, nil
	}
	content := root.Content[0]
	if content.Kind == yaml.ScalarNode && content.ShortTag() == "!!null" {
		return text{}, nil
	}
	w := &jsonWriter{out: make([]byte, 0, len(doc.text)+len(doc.text)/4), line: content.Line}
	if err := w.value(content, 0); err != nil {
		err.line += doc.line - 1
		return text{}, err
	}
	return text{text: w.out, line: doc.line + content.Line - 1}, nil
}

// The parser often names the line on which the surrounding block begins. The line
// that breaks is looked for within these bounds.
const (
	maxSearched   = 256 << 10 // bytes of a document
	maxLinesTried = 200       // from its end
)

// brokenLine returns the number, from 0, of the line that breaks the document:
// what stands before it can be read. False if it was not found.
func brokenLine(doc []byte) (int, bool) {
	if len(doc) > maxSearched {
		return 0, false
	}
	lines := bytes.SplitAfter(doc, []byte("\n"))
	for n := len(lines) - 1; n > 0 && n >= len(lines)-maxLinesTried; n-- {
		var root yaml.Node
		if yaml.Unmarshal(bytes.Join(lines[:n], nil), &root) == nil {
			return n, true
		}
	}
	return 0, false
}

// yamlError moves the line that the parser names to that of the file.
func yamlError(first int, err error) *syntaxError {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	m := regexp.MustCompile(`^line (\d+): `).FindStringSubmatch(message)
	if m == nil {
		return &syntaxError{line: first, message: "invalid YAML: " + message}
	}
	line, convErr := strconv.Atoi(m[1])
	if convErr != nil {
		line = 1
	}
	return &syntaxError{line: first + line - 1, message: "invalid YAML: " + strings.TrimPrefix(message, m[0])}
}

// jsonWriter writes the JSON of a tree of YAML nodes.
type jsonWriter struct {
	out     []byte
	line    int // the line on which the output stands
	aliases int // open aliases
	aliased int // nodes written for aliases
}

func (w *jsonWriter) value(n *yaml.Node, depth int) *syntaxError {
	if depth > maxDepth {
		return &syntaxError{n.Line, fmt.Sprintf("nested deeper than %d levels", maxDepth)}
	}
	if w.aliases > 0 {
		if err := w.spend(n.Line, 1); err != nil {
			return err
		}
	} else {
		w.advance(n.Line)
	}
	switch n.Kind {
	case yaml.MappingNode:
		return w.mapping(n, depth)
	case yaml.SequenceNode:
		return w.sequence(n, depth)
	case yaml.ScalarNode:
		return w.scalar(n)
	case yaml.AliasNode:
		w.aliases++
		defer func() { w.aliases-- }()
		return w.value(n.Alias, depth+1)
	case yaml.DocumentNode:
	}
	return &syntaxError{n.Line, "unexpected document"}
}

// advance moves the output down to the line.
func (w *jsonWriter) advance(line int) {
	for ; w.line < line; w.line++ {
		w.out = append(w.out, '\n')
	}
}

func (w *jsonWriter) sequence(n *yaml.Node, depth int) *syntaxError {
	w.out = append(w.out, '[')
	for i, c := range n.Content {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.value(c, depth+1); err != nil {
			return err
		}
	}
	w.out = append(w.out, ']')
	return nil
}

func (w *jsonWriter) mapping(n *yaml.Node, depth int) *syntaxError {
	f, err := w.flatten(n)
	if err != nil {
		return err
	}
	w.out = append(w.out, '{')
	for i := 0; i < len(f.nodes); i += 2 {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if i == f.own {
			w.aliases++
		}
		if w.aliases == 0 {
			w.advance(f.nodes[i].Line)
		}
		w.out = append(appendString(w.out, f.nodes[i].Value), ':')
		if err := w.value(f.nodes[i+1], depth+1); err != nil {
			return err
		}
	}
	if len(f.nodes) > f.own {
		w.aliases--
	}
	w.out = append(w.out, '}')
	return nil
}

func (w *jsonWriter) scalar(n *yaml.Node) *syntaxError {
	switch tag := n.ShortTag(); tag {
	case "!!null":
		w.out = append(w.out, "null"...)
	case "!!bool", "!!int", "!!float":
		var v any
		if err := n.Decode(&v); err != nil {
			return &syntaxError{n.Line, fmt.Sprintf("%q is not a %s", n.Value, tag[2:])}
		}
		if f, ok := v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
			return &syntaxError{n.Line, fmt.Sprintf("%q is not a number that JSON knows", n.Value)}
		}
		b, err := json.Marshal(v)
		if err != nil {
			return &syntaxError{n.Line, err.Error()}
		}
		w.out = append(w.out, b...)
	default:
		if b, ok := oldBool(n); ok {
			w.out = strconv.AppendBool(w.out, b)
			return nil
		}
		w.out = appendString(w.out, n.Value)
	}
	return nil
}

// oldBool reads the words that are truth values in YAML 1.1, which Kubernetes
// speaks.
func oldBool(n *yaml.Node) (value, ok bool) {
	if n.Style != 0 {
		return false, false
	}
	switch n.Value {
	case "yes", "Yes", "YES", "on", "On", "ON":
		return true, true
	case "no", "No", "NO", "off", "Off", "OFF":
		return false, true
	}
	return false, false
}

func appendString(out []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			b, err := json.Marshal(s)
			if err != nil { // strings can always be marshaled
				return append(out, `""`...)
			}
			return append(out, b...)
		}
	}
	out = append(out, '"')
	out = append(out, s...)
	return append(out, '"')
}
