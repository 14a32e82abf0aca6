// Package manifest decodes Kubernetes and Istio objects from YAML and JSON text:
// single objects, streams of documents, and lists as kubectl prints them.
//
// In goes the text of one file. Out come the objects, typed and in the order of
// the file, and the problems, each with its file, line, object and field. One
// broken document does not keep the others from being read. Every document is
// either an object or a problem.
//
// The text may be hostile: size, depth, aliases and the number of problems are
// bounded.
package manifest
