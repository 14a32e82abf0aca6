package control

import (
	"slices"
	"sync"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/source"
)

// turn is what the writer takes up at once.
type turn struct {
	causes []journal.Cause // in the order seen
	// objects are to be looked up: those of the causes that changed since they were
	// looked up last.
	objects []model.ObjectKey
	// pins are the proxies that connected, or (without Proxy) went.
	pins map[model.ObjectKey]pin
	// names are those of gateways whose addresses changed.
	names map[string][]string
	again bool // a push of everything is asked for
}

// pin is a proxy to be pinned, or to be let go of if there is none.
type pin struct {
	proxy *registry.Pinned
	done  []chan struct{} // to be closed when it is published
}

// dirtySet gathers the next turn; changes of one object merge.
type dirtySet struct {
	mu    sync.Mutex // protects all below
	next  turn
	known map[model.ObjectKey]gathered // the causes of next
	// synced is true when the source has said all that there was at the start.
	synced bool
	// first is true from the moment of synced until the first drain: even an
	// empty cluster gets a first state.
	first bool
	wake  chan struct{} // holds one element while there is something to drain
}

// gathered is where the cause of an object is, and whether the object was looked up
// since.
type gathered struct {
	at     int
	looked bool
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
	have, ok := d.known[c.Key]
	if !ok {
		have.at = len(d.next.causes)
		d.next.causes = append(d.next.causes, journal.Cause{Cause: c})
	}
	if !ok || have.looked {
		d.next.objects = append(d.next.objects, c.Key)
		d.known[c.Key] = gathered{at: have.at}
	}
	merge(&d.next.causes[have.at], c)
}

// merge adds a change. The object is looked up once, so what counts is what happened
// to it last; only if nothing did it counts what concerns its proxy or its names. When
// it was seen first is what its latency is measured from.
func merge(to *journal.Cause, c source.Cause) {
	to.Merged++
	if c.ResourceVersion != "" && len(to.ResourceVersions) < maxVersions {
		to.ResourceVersions = append(to.ResourceVersions, c.ResourceVersion)
	}
	if ofObject(c.Op) || !ofObject(to.Op) {
		c.Seen = to.Seen
		to.Cause = c
	}
}

func ofObject(op source.Op) bool {
	return op == source.OpAdd || op == source.OpUpdate || op == source.OpDelete
}

// addPin notes that a proxy connected or went. The channel is closed when this is
// published.
func (d *dirtySet) addPin(c source.Cause, p *registry.Pinned) <-chan struct{} {
	done := make(chan struct{})
	d.mu.Lock()
	d.addLocked(c)
	if d.next.pins == nil {
		d.next.pins = map[model.ObjectKey]pin{}
	}
	d.next.pins[c.Key] = pin{proxy: p, done: append(d.next.pins[c.Key].done, done)}
	d.mu.Unlock()
	d.signal()
	return done
}

// addName notes the addresses of a gateway's name.
func (d *dirtySet) addName(c source.Cause, name string, addresses []string) {
	d.mu.Lock()
	d.addLocked(c)
	if d.next.names == nil {
		d.next.names = map[string][]string{}
	}
	d.next.names[name] = addresses
	d.mu.Unlock()
	d.signal()
}

// addPush notes that a push of everything is asked for.
func (d *dirtySet) addPush() {
	d.mu.Lock()
	d.next.again = true
	d.mu.Unlock()
	d.signal()
}

func (d *dirtySet) setSynced() {
	d.mu.Lock()
	if !d.synced {
		d.synced, d.first = true, true
	}
	d.mu.Unlock()
	d.signal()
}

// drain returns what has to be done, and whether a state has to be published. As long
// as the source is not synced there are only objects to be looked up, and their causes
// stay for later.
func (d *dirtySet) drain() (turn, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.synced {
		early := turn{objects: d.next.objects}
		d.next.objects = nil
		for _, key := range early.objects {
			d.known[key] = gathered{at: d.known[key].at, looked: true}
		}
		return early, false
	}
	t := d.next
	if len(t.causes) == 0 && !d.first && !t.again {
		return turn{}, false
	}
	if d.first {
		// What exists at the start comes in any order.
		slices.SortFunc(t.causes, func(a, b journal.Cause) int { return a.Key.Compare(b.Key) })
	}
	d.next, d.known, d.first = turn{}, map[model.ObjectKey]gathered{}, false
	return t, true
}

func (d *dirtySet) len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.next.causes)
}

func (d *dirtySet) signal() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}
