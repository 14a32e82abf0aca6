// Package state holds the values that the writer publishes and everybody else
// reads: the Snapshot with its services, shards, proxies and configuration, the
// Diff between two snapshots, and the PushScope that follows from a Diff.
//
// Everything reachable from a Snapshot is immutable: a change makes a new value
// that shares what did not change. A Builder, owned by the one writer, makes the
// next Snapshot from the last.
package state
