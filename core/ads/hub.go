package ads

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// hub tells audiences what changed, and knows which streams there are.
type hub struct {
	log    *slog.Logger
	now    func() time.Time
	errors prometheus.Counter // of clusters that cannot be made
	shop   shop
	scopes scope.Cache

	mu        sync.Mutex // protects all below
	current   *generation
	audiences map[audienceKey]*audience
	streams   map[string][]*stream // by the proxy's ID
	recent    history
	round     *round // the last
	forced    uint64 // pushes of everything once more
}

// place is where a stream stands: its audience, and the last news it has read.
type place struct {
	audience *audience
	scope    *scope.Scope
	snap     *state.Snapshot
	cursor   *news
	// version of the newest snapshot that the audience was told of.
	version uint64
	// round is the last, and forced the count of pushes of everything once more.
	round  *round
	forced uint64
}

// join finds the audience of a stream, which comes from another place or the zero one.
// Nothing is built under the lock; if the configuration changes meanwhile it starts
// again.
func (h *hub) join(s *stream) place {
	for {
		h.mu.Lock()
		g := h.current
		h.mu.Unlock()
		sc, key := g.audience(s.proxy)
		if at, ok := h.enter(g, sc, audienceKey{key, s.node.told.GRPC}, s); ok {
			return at
		}
	}
}

func (h *hub) enter(g *generation, sc *scope.Scope, key audienceKey, s *stream) (place, bool) {
	p, from := s.proxy, s.place
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.current != g {
		return place{}, false
	}
	a := h.audiences[key]
	if a == nil {
		a = &audience{key: key, last: &news{done: make(chan struct{})}}
		a.clusters = sync.OnceValue(func() *catalog {
			c := h.catalog(sc, g.snap, p, key, from)
			a.built.Store(c)
			return c
		})
		h.audiences[key] = a
	}
	a.streams++
	s.counted = a
	return place{
		audience: a, scope: sc, snap: g.snap, cursor: a.last, version: h.recent.newest, round: h.round, forced: h.forced,
	}, true
}

// catalog makes the clusters of an audience. Those that it had at an earlier place
// are taken over unless something about them changed.
func (h *hub) catalog(sc *scope.Scope, snap *state.Snapshot, p *model.Proxy, key audienceKey, from place) *catalog {
	if from.audience != nil && from.audience.key == key {
		before := from.audience.built.Load()
		if changed, ok := sc.Changed(from.scope); ok && before != nil {
			for i := range sc.Imports {
				d := sc.Imports[i].Definition
				named := d.Resolution == model.DNSLB || d.Resolution == model.DNSRoundRobinLB // with the endpoints in the cluster
				if named && from.snap.Service(d.Key) != snap.Service(d.Key) {
					changed[d.Key] = struct{}{}
				}
			}
			return before.with(changed, h.shop.entries(cds.SharedOf(sc, snap, p, changed), snap.Mesh, key.grpc, h.refuse))
		}
	}
	return newCatalog(h.shop.entries(cds.Shared(sc, snap, p), snap.Mesh, key.grpc, h.refuse))
}

// leave undoes join, and returns the last news that the stream was counted for.
func (h *hub) leave(at place) *news {
	h.mu.Lock()
	defer h.mu.Unlock()
	at.audience.streams--
	if at.audience.streams == 0 && h.audiences[at.audience.key] == at.audience {
		delete(h.audiences, at.audience.key)
	}
	return at.audience.last
}

// gone notes that a stream has left: nothing is sent to it.
func (h *hub) gone(s *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.counted = nil
}

func (h *hub) refuse(name string, err error) {
	h.errors.Inc()
	h.log.Error("cluster cannot be sent", "cluster", name, "error", err)
}

// publish tells of the next transitions, up to the snapshot of the last: a newer one
// may be there already, whose transition comes with the next batch. What was lost in a
// gap may be anything. deliveries are parallel to the transitions, nil where one is
// not there any more. There is one at least.
func (h *hub) publish(b journal.Batch, deliveries []*journal.Delivery) *round {
	snap := b.Transitions[len(b.Transitions)-1].Next
	n, again := news{version: snap.Version, moved: b.Gap != nil}, false
	for i, t := range b.Transitions {
		if t.Push.Scope.Type == state.PushNone {
			continue // nothing that a proxy could see
		}
		n.moved = n.moved || t.Push.Scope.Type == state.PushFull
		again = again || t.Push.Again
		for i := range t.Diff.Services {
			n.services = append(n.services, t.Diff.Services[i].Key)
		}
		if deliveries[i] != nil {
			n.deliveries = append(n.deliveries, tracked{deliveries[i], t.Times})
		}
	}
	n.services = compact(n.services)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.recent.add(n.version, n.services)
	if b.Gap != nil {
		h.recent.forget()
	}
	if again {
		h.forced++
	}
	if n.moved || h.current == nil {
		h.advance(snap)
	}
	for i, t := range b.Transitions {
		h.wake(t, deliveries[i], &n)
	}
	h.tell(&n)
	if n.moved {
		h.audiences = map[audienceKey]*audience{}
	}
	return n.round
}

// wake has the streams of single proxies look at these anew, before there is news. A
// transition that is no news for one's audience is for the stream alone.
func (h *hub) wake(t *journal.Transition, d *journal.Delivery, n *news) {
	for _, id := range t.Push.Proxies {
		for _, s := range h.streams[id] {
			if d != nil && (t.Push.Scope.Type == state.PushNone || !h.concerns(s.counted, n)) {
				d.Affects(1)
				s.alone = append(s.alone, tracked{d, t.Times})
			}
			s.reconsider()
		}
	}
}

// alone returns the transitions that are for a stream alone, once.
func (h *hub) alone(s *stream) []tracked {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := s.alone
	s.alone = nil
	return out
}

// advance starts a new generation.
func (h *hub) advance(snap *state.Snapshot) {
	h.current = &generation{snap: snap, scopes: &h.scopes, kinds: map[*scope.Scope]func() *cds.Audiences{}}
	if h.audiences == nil {
		h.audiences = map[audienceKey]*audience{}
	}
}

// tell appends news to each audience that it concerns.
func (h *hub) tell(n *news) {
	concerned := map[*audience]struct{}{}
	for _, a := range h.audiences {
		if h.concerns(a, n) {
			concerned[a] = struct{}{}
		}
	}
	n.round = newRound(h.ready(concerned, n.moved))
	h.round = n.round
	for a := range concerned {
		for _, d := range n.deliveries {
			d.delivery.Affects(a.streams)
		}
		one := *n
		one.done, one.names = make(chan struct{}), a.namesOf(n.services)
		last := a.last
		a.last = &one
		last.next = &one
		close(last.done)
	}
}

// ready counts the streams of audiences, or all that are in one or on their way to one, but
// for those that are late.
func (h *hub) ready(audiences map[*audience]struct{}, all bool) int {
	n, now := 0, h.now()
	for _, list := range h.streams {
		for _, s := range list {
			if _, ok := audiences[s.counted]; (ok || all && s.counted != nil) && !s.turn.late(now) {
				n++
			}
		}
	}
	return n
}

// concerns tells whether an audience is told of news. One of an earlier generation is
// not: its streams are on their way.
func (h *hub) concerns(a *audience, n *news) bool {
	return a != nil && h.audiences[a.key] == a && (n.moved || (len(n.services) > 0 && a.cares(n.services)))
}

// cares tells whether endpoints of one of the services are sent to the audience.
// One whose clusters nobody asked for yet has to be told of everything.
func (a *audience) cares(services []model.ServiceKey) bool {
	c := a.built.Load()
	return c == nil || slices.ContainsFunc(services, c.has)
}

func compact(keys []model.ServiceKey) []model.ServiceKey {
	slices.SortFunc(keys, model.ServiceKey.Compare)
	return slices.Compact(keys)
}

// maxStreams bounds the streams of one proxy: a library of gRPC may open one for
// each service that it calls.
const maxStreams = 256

// add keeps a stream by its proxy; false if the proxy has too many.
func (h *hub) add(s *stream) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	id := s.node.pinned.Proxy.ID
	if len(h.streams[id]) >= maxStreams {
		return false
	}
	if h.streams == nil {
		h.streams = map[string][]*stream{}
	}
	h.streams[id] = append(h.streams[id], s)
	return true
}

// remove undoes add, and tells whether it was the last stream of that Pod; Pods of
// one name in two clusters are one proxy.
func (h *hub) remove(s *stream) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	id := s.node.pinned.Proxy.ID
	rest := slices.DeleteFunc(h.streams[id], func(o *stream) bool { return o == s })
	if h.streams[id] = rest; len(rest) == 0 {
		delete(h.streams, id)
	}
	return !slices.ContainsFunc(rest, func(o *stream) bool { return o.node.pinned.Pod == s.node.pinned.Pod })
}

// missed returns the services whose endpoints changed after a version; false if
// that is not known any more.
func (h *hub) missed(after uint64) ([]model.ServiceKey, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.recent.since(after)
}
