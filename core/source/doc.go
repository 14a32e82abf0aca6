// Package source is the one seam through which objects enter Edsight.
//
// A Source holds the current objects of one or more clusters, or of files, and
// tells a Sink the keys of those that changed, each with its Cause. The Sink
// looks an object up when it acts on the key, so that any number of changes of
// one object between two looks are one. Sources never wait for the Sink.
//
// Objects that a Source hands out are read-only.
package source
