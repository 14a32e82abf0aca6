// Package coretest runs the whole core in memory for tests: manifests go in as
// text, and what was published comes out. Nothing runs in the background; a
// turn of the writer is taken by the test.
package coretest
