package manifest

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// fields are the keys and values of a mapping, in turn. The first own nodes are
// its own; the others come by merge keys ("<<").
type fields struct {
	nodes []*yaml.Node
	own   int
	seen  map[string]bool
}

// flatten returns the fields of a mapping with merge keys followed.
func (w *jsonWriter) flatten(n *yaml.Node) (*fields, *syntaxError) {
	merges := false
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind != yaml.ScalarNode {
			return nil, &syntaxError{k.Line, "the key of a field must be a word"}
		}
		merges = merges || isMerge(k)
	}
	if !merges {
		return &fields{nodes: n.Content, own: len(n.Content)}, nil
	}
	f := &fields{seen: map[string]bool{}}
	for i := 0; i < len(n.Content); i += 2 {
		if k := n.Content[i]; !isMerge(k) {
			f.nodes, f.seen[k.Value] = append(f.nodes, k, n.Content[i+1]), true
		}
	}
	f.own = len(f.nodes)
	for i := 0; i < len(n.Content); i += 2 {
		if isMerge(n.Content[i]) {
			if err := w.merge(f, n.Content[i+1]); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

// merge adds what the node holds under keys that are not yet seen.
func (w *jsonWriter) merge(f *fields, n *yaml.Node) *syntaxError {
	if err := w.spend(n.Line, 1+len(n.Content)); err != nil {
		return err
	}
	switch n.Kind {
	case yaml.AliasNode:
		return w.merge(f, n.Alias)
	case yaml.SequenceNode:
		for _, c := range n.Content {
			if err := w.merge(f, c); err != nil {
				return err
			}
		}
		return nil
	case yaml.MappingNode:
		more, err := w.flatten(n)
		if err != nil {
			return err
		}
		for i := 0; i < len(more.nodes); i += 2 {
			if k := more.nodes[i]; !f.seen[k.Value] {
				f.nodes, f.seen[k.Value] = append(f.nodes, k, more.nodes[i+1]), true
			}
		}
		return nil
	case yaml.DocumentNode, yaml.ScalarNode:
	}
	return &syntaxError{n.Line, "only mappings can be merged"}
}

// spend counts nodes that stand for an alias.
func (w *jsonWriter) spend(line, nodes int) *syntaxError {
	if w.aliased += nodes; w.aliased > maxAliased {
		return &syntaxError{line, fmt.Sprintf("aliases stand for more than %d nodes", maxAliased)}
	}
	return nil
}

func isMerge(k *yaml.Node) bool { return k.ShortTag() == "!!merge" }
