package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
)

// scope is what a document takes from the list it is in.
type scope struct {
	cluster model.ClusterID
	// item is the kind of the items of a typed list, for example of a PodList.
	item   schema.GroupVersionKind
	inList bool
}

// header is what has to be known of a document before it is decoded.
type header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Op      string            `json:"$op"`
	Cluster *string           `json:"$cluster"`
	Items   []json.RawMessage `json:"items"`
}

// decodeJSON reads data if it is JSON, and tells whether it was.
func (d *decoder) decodeJSON(data []byte, s scope) bool {
	if trimmed := bytes.TrimLeft(data, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return false
	}
	var parts []text
	file := text{text: data, line: 1}
	dec := json.NewDecoder(bytes.NewReader(data))
	for {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return d.invalidJSON(file, err)
		}
		start := int(dec.InputOffset()) - len(raw)
		parts = append(parts, text{text: raw, line: file.at(start)})
	}
	for _, p := range parts {
		d.document(p, s)
	}
	return true
}

// invalidJSON reports broken JSON in a file whose name promises JSON. Others may
// still be YAML.
func (d *decoder) invalidJSON(file text, err error) bool {
	if !strings.HasSuffix(d.file, ".json") {
		return false
	}
	offset := len(file.text)
	if bad := (*json.SyntaxError)(nil); errors.As(err, &bad) {
		offset = int(bad.Offset) - 1
	}
	d.lost(model.ObjectKey{}, file.at(offset), "", "invalid JSON: "+err.Error())
	return true
}

// document reads one object or list.
func (d *decoder) document(doc text, s scope) {
	var h header
	if err := kjson.UnmarshalCaseSensitivePreserveInts(doc.text, &h); err != nil {
		key := model.ObjectKey{Cluster: s.cluster, Kind: model.Kind(h.Kind), Namespace: h.Metadata.Namespace, Name: h.Metadata.Name}
		at, message := typeError(doc, err)
		d.lost(key, doc.at(at.start), at.path, message)
		return
	}
	if h.Cluster != nil {
		if *h.Cluster == "" || len(*h.Cluster) > 253 {
			d.lost(model.ObjectKey{}, doc.line, "$cluster", "is not the name of a cluster")
			return
		}
		s.cluster = model.ClusterID(*h.Cluster)
	}
	gvk, ok := d.kindOf(h, doc, s)
	switch {
	case !ok:
	case strings.HasSuffix(gvk.Kind, "List"):
		d.list(h, gvk, doc, s)
	default:
		d.object(h, gvk, doc, s)
	}
}

// kindOf returns the kind that the document names, or which its list gives it.
func (d *decoder) kindOf(h header, doc text, s scope) (schema.GroupVersionKind, bool) {
	if h.Kind == "" && h.APIVersion == "" && s.item.Kind != "" {
		return s.item, true
	}
	gv, err := schema.ParseGroupVersion(h.APIVersion)
	switch {
	case h.Kind == "":
		d.lost(model.ObjectKey{}, doc.line, "kind", "is missing; not a Kubernetes object")
		return schema.GroupVersionKind{}, false
	case err != nil || gv.Version == "":
		d.lost(model.ObjectKey{Kind: model.Kind(h.Kind), Namespace: h.Metadata.Namespace, Name: h.Metadata.Name},
			doc.line, "apiVersion", fmt.Sprintf("%q is not an API version", h.APIVersion))
		return schema.GroupVersionKind{}, false
	}
	return gv.WithKind(h.Kind), true
}

// list reads the items of a list.
func (d *decoder) list(h header, gvk schema.GroupVersionKind, doc text, s scope) {
	if s.inList {
		d.lost(model.ObjectKey{}, doc.line, "items", "a list within a list is not read")
		return
	}
	s.inList = true
	if kind := strings.TrimSuffix(gvk.Kind, "List"); kind != "" {
		s.item = gvk.GroupVersion().WithKind(kind)
	}
	offset, line := 0, doc.line
	for _, item := range h.Items {
		// The items are copies; their places are found in order.
		if i := bytes.Index(doc.text[offset:], item); i >= 0 {
			line += bytes.Count(doc.text[offset:offset+i], []byte("\n"))
			offset += i
		}
		d.document(text{text: item, line: line}, s)
		line += bytes.Count(item, []byte("\n"))
		offset = min(offset+len(item), len(doc.text))
	}
}

// object reads one object.
func (d *decoder) object(h header, gvk schema.GroupVersionKind, doc text, s scope) {
	key := model.ObjectKey{Cluster: s.cluster, Kind: model.Kind(gvk.Kind), Namespace: h.Metadata.Namespace, Name: h.Metadata.Name}
	b, known := newBlank(gvk)
	if !known {
		d.problem(key, doc.line, "", fmt.Sprintf("objects of kind %s of %s are not read; this one is ignored", gvk.Kind, gvk.GroupVersion()))
		return
	}
	key, ok := d.named(key, doc)
	if !ok {
		return
	}
	op := source.OpUpdate
	switch h.Op {
	case "":
	case string(source.OpDelete):
		op = source.OpDelete
	default:
		d.broken(key, doc.line, "$op", fmt.Sprintf("is %q; only %q is known", h.Op, source.OpDelete))
		return
	}
	if !d.decode(key, b, doc) {
		return
	}
	b.object.SetNamespace(key.Namespace)
	if b.spec != nil {
		gvk.Version = "v1"
	}
	b.object.GetObjectKind().SetGroupVersionKind(gvk)
	d.add(Document{Key: key, Object: b.object, Line: doc.line, Op: op})
}

// named checks name and namespace, and fills in a namespace that is missing.
func (d *decoder) named(key model.ObjectKey, doc text) (model.ObjectKey, bool) {
	lineOf := func(path string) int { return doc.at(placeOf(places(doc.text), path).start) }
	if key.Name == "" {
		d.lost(key, lineOf("metadata.name"), "metadata.name", "is missing")
		return key, false
	}
	if bad := validation.NameIsDNSSubdomain(key.Name, false); len(bad) > 0 {
		d.lost(key, lineOf("metadata.name"), "metadata.name", fmt.Sprintf("%q is not a name: %s", key.Name, bad[0]))
		return key, false
	}
	clusterScoped := key.Kind == model.KindNode || key.Kind == model.KindNamespace
	switch {
	case clusterScoped && key.Namespace != "":
		key.Namespace = ""
		d.problem(key, lineOf("metadata.namespace"), "metadata.namespace", "is ignored; a "+string(key.Kind)+" is in no namespace")
	case clusterScoped:
	case key.Namespace == "":
		key.Namespace = "default"
		d.problem(key, lineOf("metadata"), "metadata.namespace", `is missing; taken as "default"`)
	default:
		if bad := validation.ValidateNamespaceName(key.Namespace, false); len(bad) > 0 {
			d.lost(key, lineOf("metadata.namespace"), "metadata.namespace", fmt.Sprintf("%q is not a namespace: %s", key.Namespace, bad[0]))
			return key, false
		}
	}
	return key, true
}
