package journal

import (
	"time"

	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
)

// Transition is one step from one snapshot to the next, with all that caused it.
// It is immutable.
type Transition struct {
	Seq uint64
	// Version of the snapshot after the step.
	Version uint64
	// Causes are all changes merged into this step, in the order seen; changes of
	// one object seen before it was looked at are Merged into one cause each.
	Causes []Cause
	Push   Push
	Diff   *state.Diff // never nil
	// Prev and Next are the snapshots before and after.
	Prev, Next *state.Snapshot
	Times      Times
}

// Cause is one or several changes of one object.
type Cause struct {
	source.Cause
	// Merged counts the changes; ResourceVersions names those that made one, oldest
	// first.
	Merged           int      `json:"merged"`
	ResourceVersions []string `json:"resourceVersions,omitempty"`
}

// Push is the decision what to push, with its reason.
type Push struct {
	Scope state.PushScope
	// Triggers are Istio's names: endpoint, headlessendpoint, service, config,
	// global, networks, proxy.
	Triggers []string
	// Proxies are looked at as a whole, whatever the scope, since their own
	// workload changed: its properties, or the ports at which it serves. Sorted.
	Proxies []string
	// Again: a person asked for it, and everything is sent once more.
	Again bool
	// Because says in words why this much, and not less or more, of what others than
	// Proxies have.
	Because string
}

// Times are the moments of one step.
type Times struct {
	// Seen is when the first cause was seen.
	Seen time.Time
	// Drained is when the writer took the causes up, Compiled when the services
	// were ready, Published when readers could see the snapshot.
	Drained, Compiled, Published time.Time
}
