package control

import (
	"slices"
	"sync"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/source"
)

// dirtySet gathers the keys of changed objects; changes of one object merge.
type dirtySet struct {
	mu     sync.Mutex // protects all below
	causes map[model.ObjectKey]*journal.Cause
	order  []model.ObjectKey
	// ahead is how many of order were looked at before the source was synced.
	ahead int
	// pins are the proxies that connected, or (without Proxy) went.
	pins map[model.ObjectKey]pin
	// names are those of gateways whose addresses changed.
	names  map[string][]string
	forced bool // a push is asked for
	synced bool
	// first is true from the moment of synced until the first drain: even an
	// empty cluster gets a first state.
	first bool
	wake  chan struct{} // holds one element while there is something to drain
}

// pin is a proxy to be pinned, or to be let go of if there is none.
type pin struct {
	proxy *registry.Pinned
	done  []chan struct{} // to be closed when it is published
}

// maxVersions bounds the resourceVersions named per merged cause.
const maxVersions = 256

func (d *dirtySet) add(causes []source.Cause) {
	d.mu.Lock()
	for _, c := range causes {
		d.addLocked(c)
	}
	d.mu.Unlock()
	d.signal()
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

// addPin notes that a proxy connected or went. The channel is closed when this is
// published.
func (d *dirtySet) addPin(c source.Cause, p *registry.Pinned) <-chan struct{} {
	done := make(chan struct{})
	d.mu.Lock()
	d.addLocked(c)
	if d.pins == nil {
		d.pins = map[model.ObjectKey]pin{}
	}
	d.pins[c.Key] = pin{proxy: p, done: append(d.pins[c.Key].done, done)}
	d.mu.Unlock()
	d.signal()
	return done
}

// addName notes the addresses of a gateway's name.
func (d *dirtySet) addName(c source.Cause, name string, addresses []string) {
	d.mu.Lock()
	d.addLocked(c)
	if d.names == nil {
		d.names = map[string][]string{}
	}
	d.names[name] = addresses
	d.mu.Unlock()
	d.signal()
}

// drainNames returns the names whose addresses changed.
func (d *dirtySet) drainNames() map[string][]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.names
	d.names = nil
	return out
}

// force asks for a full push.
func (d *dirtySet) force() {
	d.mu.Lock()
	d.forced = true
	d.mu.Unlock()
	d.signal()
}

// drainForced tells whether a full push was asked for.
func (d *dirtySet) drainForced() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.forced
	d.forced = false
	return was
}

// drainPins returns the proxies of the causes which drain returned.
func (d *dirtySet) drainPins(causes []journal.Cause) map[model.ObjectKey]pin {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.pins) == 0 {
		return nil
	}
	out := map[model.ObjectKey]pin{}
	for i := range causes {
		if p, ok := d.pins[causes[i].Key]; ok {
			out[causes[i].Key] = p
			delete(d.pins, causes[i].Key)
		}
	}
	return out
}

func (d *dirtySet) setSynced() {
	d.mu.Lock()
	if !d.synced {
		d.synced, d.first = true, true
	}
	d.mu.Unlock()
	d.signal()
}

// early returns the keys that came since the last call, as long as the source is not
// synced; they stay for drain.
func (d *dirtySet) early() []model.ObjectKey {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.synced {
		return nil
	}
	keys := slices.Clone(d.order[d.ahead:])
	d.ahead = len(d.order)
	return keys
}

// drain returns the causes in the order seen; false if nothing is to be done.
func (d *dirtySet) drain() ([]journal.Cause, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.synced || (len(d.order) == 0 && !d.first && !d.forced) {
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
