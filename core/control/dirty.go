package control

import (
	"slices"
	"sync"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
)

// dirtySet gathers the keys of changed objects; changes of one object merge.
type dirtySet struct {
	mu     sync.Mutex // protects all below
	causes map[model.ObjectKey]*journal.Cause
	order  []model.ObjectKey
	synced bool
	// first is true from the moment of synced until the first drain: even an
	// empty cluster gets a first state.
	first bool
	wake  chan struct{} // holds one element while there is something to drain
}

// maxVersions bounds the resourceVersions named per merged cause.
const maxVersions = 256

func (d *dirtySet) add(causes []source.Cause) {
	d.mu.Lock()
	for _, c := range causes {
		d.addLocked(c)
	}
	ready := d.synced
	d.mu.Unlock()
	if ready {
		d.signal()
	}
}

func (d *dirtySet) addLocked(c source.Cause) {
	have, ok := d.causes[c.Key]
	if !ok {
		d.causes[c.Key] = &journal.Cause{Cause: c, Merged: 1, ResourceVersions: []string{c.ResourceVersion}}
		d.order = append(d.order, c.Key)
		return
	}
	have.Merged++
	if len(have.ResourceVersions) < maxVersions {
		have.ResourceVersions = append(have.ResourceVersions, c.ResourceVersion)
	}
	// The object is looked up once, so what counts is the last; when it was seen
	// first is what its latency is measured from.
	seen := have.Seen
	have.Cause = c
	have.Seen = seen
}

func (d *dirtySet) setSynced() {
	d.mu.Lock()
	if !d.synced {
		d.synced, d.first = true, true
	}
	d.mu.Unlock()
	d.signal()
}

// drain returns the causes in the order seen; false if nothing is to be done.
func (d *dirtySet) drain() ([]journal.Cause, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.synced || (len(d.order) == 0 && !d.first) {
		return nil, false
	}
	out := make([]journal.Cause, 0, len(d.order))
	for _, k := range d.order {
		out = append(out, *d.causes[k])
	}
	if d.first {
		// What exists at the start comes in any order.
		slices.SortFunc(out, func(a, b journal.Cause) int { return a.Key.Compare(b.Key) })
	}
	d.first = false
	d.order = nil
	clear(d.causes)
	return out, true
}

func (d *dirtySet) len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.order)
}

func (d *dirtySet) signal() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}
