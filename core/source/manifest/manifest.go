package manifest

import (
	"fmt"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
)

// MaxBytes is the size of the largest file that is read.
const MaxBytes = 64 << 20

const (
	maxDepth    = 100     // of nested YAML collections
	maxAliased  = 100_000 // nodes that stand for an alias, per document
	maxProblems = 1_000   // per file
)

// Document is one object of a file.
type Document struct {
	Key    model.ObjectKey
	Object source.Object
	// Line of the file on which the object begins.
	Line int
	// Op is OpDelete if the document says "$op: delete", else OpUpdate.
	Op source.Op
}

// File is what a file holds.
type File struct {
	// Documents in the order of the file.
	Documents []Document
	Problems  []source.Problem
	// Broken names the objects whose documents had to be left out. The key is
	// zero where it could not be read.
	Broken []model.ObjectKey
}

// Decode reads the documents of a file, which is named in the problems. Objects
// belong to cluster unless their document says "$cluster: <id>". Of two
// documents for one object the later one is meant to win; both are returned.
func Decode(file string, data []byte, cluster model.ClusterID) ([]Document, []source.Problem) {
	f := DecodeFile(file, data, cluster)
	return f.Documents, f.Problems
}

// DecodeFile is Decode, and tells which objects are broken.
func DecodeFile(file string, data []byte, cluster model.ClusterID) File {
	d := &decoder{file: file, lines: map[model.ObjectKey]int{}}
	if len(data) > MaxBytes {
		d.lost(model.ObjectKey{}, 1, "", fmt.Sprintf("the file is larger than %d MiB", MaxBytes>>20))
		return d.out
	}
	scope := scope{cluster: cluster}
	if d.decodeJSON(data, scope) {
		return d.out
	}
	for _, c := range split(data) {
		body, err := toJSON(c)
		if err != nil {
			d.lost(model.ObjectKey{}, err.line, "", err.message)
			continue
		}
		if body.text != nil {
			d.document(body, scope)
		}
	}
	return d.out
}

// decoder gathers what one file holds.
type decoder struct {
	file  string
	lines map[model.ObjectKey]int // where an object was put before
	out   File
}

// add keeps a document and tells if it overrides an earlier one.
func (d *decoder) add(doc Document) {
	before, again := d.lines[doc.Key]
	switch {
	case doc.Op == source.OpDelete:
		delete(d.lines, doc.Key)
	case again:
		d.problem(doc.Key, doc.Line, "", fmt.Sprintf("the object is already on line %d; the later one counts", before))
		d.lines[doc.Key] = doc.Line
	default:
		d.lines[doc.Key] = doc.Line
	}
	d.out.Documents = append(d.out.Documents, doc)
}

// lost reports a document that is left out and may have been any object.
func (d *decoder) lost(key model.ObjectKey, line int, field, message string) {
	d.out.Broken = append(d.out.Broken, model.ObjectKey{})
	d.problem(key, line, field, message)
}

// broken reports that the document of the object is left out.
func (d *decoder) broken(key model.ObjectKey, line int, field, message string) {
	d.out.Broken = append(d.out.Broken, key)
	d.problem(key, line, field, message)
}

func (d *decoder) problem(key model.ObjectKey, line int, field, message string) {
	switch {
	case len(d.out.Problems) > maxProblems:
		return
	case len(d.out.Problems) == maxProblems:
		key, field, message = model.ObjectKey{}, "", "further problems of this file are not listed"
	}
	d.out.Problems = append(d.out.Problems, source.Problem{
		Object: key, Where: fmt.Sprintf("%s:%d", d.file, line), Field: field, Message: message,
	})
}
