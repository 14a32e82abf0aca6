package ads

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Versions that no resource has: absent is that of one which the client was told
// does not exist, parting that of a name which it gave up while it wants everything.
const (
	absent  = reserved + 2
	parting = reserved
)

// watch is what a stream holds of one type.
type watch struct {
	typeURL string
	// started is false until the first answer.
	started bool

	// wild tells that everything of the type is wanted; shared and own are what the
	// client has of it then, and initial what it had from an earlier stream. Once a
	// client has named something, asking for nothing means nothing.
	wild, named bool
	shared, own *catalog
	initial     map[string]version

	// names are those asked for by name, due those of them to look at.
	names map[string]interest
	due   []string
	// bytes is the length of all names together.
	bytes int

	// nonce of the last response, "" before the first; waiting tells that its
	// answer has not come. tickets are of transitions that it carries.
	nonce   string
	waiting bool
	tickets []*ticket
	// carried is what the last response holds, until it is answered. refused are the
	// names that the client's refusals name, and that were not sent since.
	carried []*resource
	refused []string
}

// interest is what a stream knows of one name: the version that the client has, 0
// being none or one that has to be sent again, and in a bit that versions leave
// free whether the name is in due. There is one per name and stream.
type interest uint64

func (i interest) version() version { return version(i &^ dueBit) }

func (i interest) due() bool { return i&dueBit != 0 }

func newWatch(typeURL string) *watch {
	return &watch{typeURL: typeURL, names: map[string]interest{}}
}

// reserve makes room for names at the start, when all of them come at once.
func (w *watch) reserve(names int) {
	if len(w.names) == 0 {
		w.names = make(map[string]interest, names)
		w.due = make([]string, 0, names)
	}
}

// want asks for a name. It is answered in any case, as the protocol demands, but
// for what the client says to have.
func (w *watch) want(name string, have version) {
	i, ok := w.names[name]
	if !ok {
		w.bytes += len(name)
	}
	if !i.due() {
		w.due = append(w.due, name)
	}
	w.names[name] = interest(have) | dueBit
}

// touch has a name looked at, if it is asked for.
func (w *watch) touch(name string) {
	if i, ok := w.names[name]; ok {
		w.want(name, i.version())
	}
}

// renew has a name sent again, if it is asked for.
func (w *watch) renew(name string) {
	if i, ok := w.names[name]; ok && i.version() != parting {
		w.want(name, 0)
	}
}

// forget ends the interest in a name. Names that were due when they were forgotten
// stay in due, and are taken out when they become many: a client may ask for and
// forget without end, and never let a message go.
func (w *watch) forget(name string) {
	if _, ok := w.names[name]; !ok {
		return
	}
	delete(w.names, name)
	w.bytes -= len(name)
	if len(w.due) <= 2*len(w.names)+maxForgotten {
		return
	}
	w.due = w.due[:0]
	for _, name := range slices.Sorted(maps.Keys(w.names)) {
		if w.names[name].due() {
			w.due = append(w.due, name)
		}
	}
}

// maxForgotten is how many forgotten names a watch holds beside the others.
const maxForgotten = 1024

// touchAll has all names looked at.
func (w *watch) touchAll() {
	for _, name := range slices.Sorted(maps.Keys(w.names)) {
		w.touch(name)
	}
}

// answered tells whether this is the answer to the last response, ACK or NACK.
func (w *watch) answered(nonce string) bool {
	if !w.waiting || nonce != w.nonce {
		return false
	}
	w.waiting = false
	if !w.wild {
		w.initial = nil // nothing is on its way
	}
	return true
}

// subscribeSotW takes the list of names of a state-of-the-world request, nil if it
// is the one of before.
func (w *watch) subscribeSotW(names []string) {
	if names == nil {
		return
	}
	w.reserve(len(names))
	keep := make(map[string]struct{}, len(names))
	for _, n := range names {
		keep[n] = struct{}{}
	}
	_, all := keep[wildcard]
	w.named = w.named || len(names) > 0
	w.setWild(wildByDefault(w.typeURL) && (all || !w.named))
	for _, n := range names {
		if _, ok := w.names[n]; !ok && !w.isWildcard(n) {
			w.want(n, 0)
		}
	}
	for n := range w.names {
		if _, ok := keep[n]; !ok {
			w.forget(n)
		}
	}
}

// subscribeDelta takes an incremental request in. What it gives up and asks for at a
// time is asked for.
func (w *watch) subscribeDelta(r *request, first bool) {
	if first {
		w.initial = r.initial
		w.setWild(len(r.subscribe)+len(r.unsubscribe) == 0 && wildByDefault(w.typeURL))
	}
	if slices.ContainsFunc(r.unsubscribe, w.isWildcard) {
		w.setWild(false)
	}
	if slices.ContainsFunc(r.subscribe, w.isWildcard) {
		w.setWild(true)
	}
	for _, n := range r.unsubscribe {
		w.giveUp(n)
	}
	w.reserve(len(r.subscribe))
	for _, n := range r.subscribe {
		if !w.isWildcard(n) {
			w.want(n, w.initial[n])
		}
	}
	if first && !w.wild {
		w.initial = nil // said once
	}
}

// giveUp ends the interest in a name. A client that wants everything cannot tell
// whether the resource is still wanted, and has to be told once; one that comes to want
// everything may get the resource yet.
func (w *watch) giveUp(name string) {
	_, ok := w.names[name]
	switch {
	case ok && w.wild:
		w.want(name, parting)
		return
	case ok && w.waiting && wildByDefault(w.typeURL):
		w.doubt(name)
	}
	w.forget(name)
}

// setWild starts or ends the interest in everything.
func (w *watch) setWild(yes bool) {
	if w.wild != yes {
		w.wild = yes
		w.doubt()
	}
}

// doubt counts on nothing that the client has of everything, nor on these. It is kept
// in mind: it may be on its way, and the client has to be told what of it went.
func (w *watch) doubt(names ...string) {
	if w.initial == nil {
		w.initial = map[string]version{}
	}
	for _, name := range names {
		w.initial[name] = 0
	}
	for _, c := range []*catalog{w.shared, w.own} {
		for i := range c.size() {
			w.initial[c.entries[i].cluster.name] = 0
		}
	}
	w.shared, w.own = nil, nil
}

// again has everything sent once more.
func (w *watch) again() {
	w.doubt()
	for _, name := range slices.Sorted(maps.Keys(w.names)) {
		w.renew(name)
	}
}

// isWildcard tells whether a name stands for everything of the type.
func (w *watch) isWildcard(name string) bool { return name == wildcard && wildByDefault(w.typeURL) }

// wildByDefault tells whether a request without names means all resources, and a
// state-of-the-world response holds everything.
func wildByDefault(typeURL string) bool {
	return typeURL == typeCluster || typeURL == typeListener
}

// refuse notes what a refusal names of the last response: clients keep the rest.
func (w *watch) refuse(text string) {
	for _, one := range w.carried {
		if mentions(text, one.name) && !slices.Contains(w.refused, one.name) {
			w.refused = append(w.refused, one.name)
		}
	}
}

// mentions tells whether a text has the name, and not only as a part of another one.
func mentions(text, name string) bool {
	for {
		before, after, ok := strings.Cut(text, name)
		if !ok {
			return false
		}
		if !goesOn(before, len(before)-1) && !goesOn(strings.TrimPrefix(after, "."), 0) {
			return true
		}
		text = after
	}
}

// goesOn tells whether a name has the byte at i, if there is one.
func goesOn(text string, i int) bool {
	if i < 0 || i >= len(text) {
		return false
	}
	c := text[i]
	return c == '-' || c == '_' || c == '|' || c == '.' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// amend takes out of what is refused what a response says anew, and what is not asked
// for any more.
func (w *watch) amend(r *response) {
	if !r.delta && wildByDefault(w.typeURL) {
		w.refused = nil // it holds everything
	}
	w.refused = slices.DeleteFunc(w.refused, func(name string) bool {
		_, named := w.names[name]
		return (!named && !w.wild) || slices.Contains(r.removed, name) ||
			slices.ContainsFunc(r.resources, func(one *resource) bool { return one.name == name })
	})
}

// sent notes a response.
func (w *watch) sent(r *response, at time.Time, tickets []*ticket) {
	w.nonce, w.waiting, w.started = r.nonce, true, true
	w.tickets, w.carried = tickets, r.resources
	w.amend(r)
	for _, t := range tickets {
		t.send(at)
	}
}
