package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Party is who wrote a Document.
type Party string

// The parties.
const (
	Istiod Party = "istiod"
	Envoy  Party = "Envoy"
)

// Document is what istiod or Envoy says of one proxy.
type Document struct {
	Party Party
	// Format is what was asked for: "edsz", "config_dump" or "clusters".
	Format string
	// Proxy is whose endpoints these are, "<pod>.<namespace>"; "" if it is not said.
	Proxy string
	Set   Set
}

// ErrDocument is wrapped by the errors of ParseDocument.
var ErrDocument = errors.New("this is no dump of a proxy's endpoints")

// The keys at the top of the documents.
const (
	keyConfigs       = "configs"
	keyStatuses      = "cluster_statuses"
	keyStatusesCamel = "clusterStatuses"
)

// ParseDocument reads what istiod answers at /debug/edsz or /debug/config_dump, or
// Envoy at /config_dump?include_eds or /clusters?format=json.
func ParseDocument(b []byte) (*Document, error) {
	if err := checkShape(b); err != nil {
		return nil, err
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(b, &top); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDocument, place(b, err))
	}
	for _, key := range []string{keyStatuses, keyStatusesCamel} {
		if _, ok := top[key]; ok {
			return parseStatuses(b)
		}
	}
	if configs, ok := top[keyConfigs]; ok {
		return parseConfigs(configs)
	}
	return nil, fmt.Errorf("%w: at its top is neither %q nor %q, but %s", ErrDocument, keyConfigs, keyStatuses, quoted(slices.Sorted(maps.Keys(top))))
}

// quoted names a few.
func quoted(names []string) string {
	const few, most = 5, 40
	if len(names) == 0 {
		return "nothing"
	}
	list := make([]string, 0, few)
	for _, n := range names[:min(len(names), few)] {
		list = append(list, strconv.Quote(n[:min(len(n), most)]))
	}
	return strings.Join(list, ", ")
}

// place adds where in the text the error is.
func place(b []byte, err error) error {
	at := int64(-1)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = syntax.Offset
	}
	if at < 0 || at > int64(len(b)) {
		return err
	}
	before := b[:at]
	line := bytes.Count(before, []byte{'\n'}) + 1
	return fmt.Errorf("line %d, column %d: %w", line, int(at)-bytes.LastIndexByte(before, '\n')-1, err)
}

// Limits of a document.
const (
	// MaxDocument is how many bytes one may have.
	MaxDocument = 64 << 20
	maxObjects  = 2 << 20
	maxKeys     = 1000 // at the top
	maxDepth    = 100
)

// checkShape refuses what would cost too much to decode.
func checkShape(b []byte) error {
	switch {
	case len(b) > MaxDocument:
		return fmt.Errorf("%w: it is longer than %d MiB", ErrDocument, MaxDocument>>20)
	case len(bytes.TrimSpace(b)) == 0:
		return fmt.Errorf("%w: it is empty", ErrDocument)
	case bytes.HasPrefix(b, []byte{0x1f, 0x8b}):
		return fmt.Errorf("%w: it is compressed, as an exported snapshot is", ErrDocument)
	}
	depth, objects, keys, inText := 0, 0, 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			depth++
			objects++
		case c == '}' || c == ']':
			depth--
		case c == ',' && depth == 1:
			keys++
		}
		if keys > maxKeys {
			return fmt.Errorf("%w: it has more than %d keys at its top", ErrDocument, maxKeys)
		}
		if depth > maxDepth {
			return fmt.Errorf("%w: it is nested deeper than %d", ErrDocument, maxDepth)
		}
		if objects > maxObjects {
			return fmt.Errorf("%w: it has more than %d objects", ErrDocument, maxObjects)
		}
	}
	return nil
}
