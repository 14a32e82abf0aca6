// Package archive writes a whole snapshot to one file and reads it back.
//
// In goes a Content: the snapshot with its services, shards, candidates,
// proxies, Istio objects and mesh configuration, the journal's transitions, and
// the source's status. Out comes the same Content, whose snapshot can be given
// to scope, cds and eds like a live one.
//
// The file is gzip over JSON lines, written and read as a stream: a header with
// the format's number, one record per thing, and an end record that counts
// them, so that a truncated file is an error. Values of the model stand under
// their field names.
//
// An archive is redacted unless its writer asks for the contrary, and its header
// says which: values that look like credentials, or whose name says that they
// are, give way to a fixed text. Names, addresses and labels stay; they are the
// evidence.
//
// Reading takes hostile input: its size, line length, depth, number of values and
// ratio of compression are limited, and nothing in it names a file.
package archive
