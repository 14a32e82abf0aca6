package ads

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"google.golang.org/grpc/mem"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/model"
)

// maxEndpoints is how many bytes of endpoints make a response full; what the client does
// not have yet comes in the next, but changes of what it has do not wait. A client that
// gets those of a large mesh for the first time need not hold all of them twice, as a
// message and as what it makes of it.
const maxEndpoints = 1 << 20

// Bounds of a stream: types, bytes of all names, and transitions that wait because
// its client does not answer.
const (
	maxTypes   = 16
	maxBytes   = 16 << 20
	maxTickets = 8192
)

// stream serves one client. All but the record and what is the hub's belongs to the
// goroutine of run.
type stream struct {
	server *Server
	record *record
	node   *node
	delta  bool
	// single tells that the stream is of a service with one type only.
	single bool
	write  func(mem.BufferSlice) error
	// kick wakes the stream because its proxy changed.
	kick chan struct{}
	// asked has questions for the names that are asked for.
	asked <-chan chan map[string][]string

	proxy *model.Proxy
	place
	shared, own *catalog
	// watches in the order in which they are sent.
	watches []*watch
	// had are the clusters that the client said to have, if it was sent the
	// difference and no more. It is kept until endpoints are asked for.
	had     map[string]version
	tickets []*ticket // of transitions not sent yet
	nonces  uint64
	turn    turn

	// Protected by the hub: the audience of which the stream is one, nil before the
	// first, and transitions that are for it alone.
	counted *audience
	alone   []tracked
}

// run serves until the client goes or ctx is done.
func (s *stream) run(ctx context.Context, requests <-chan *request) error {
	s.settle(s.server.hub.join(s))
	defer s.leave()
	// 1. A request. 2. News of the audience. 3. The proxy changed. 4. A question from
	// a person. 5. The end.
	for {
		if err := s.flush(); err != nil {
			return err
		}
		select {
		case r, ok := <-requests:
			if !ok {
				return nil
			}
			if err := s.receive(r); err != nil {
				return err
			}
		case <-s.cursor.done:
			s.read()
		case <-s.kick:
			s.move()
		case to := <-s.asked:
			to <- s.names()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// names lists what is asked for by name, by type.
func (s *stream) names() map[string][]string {
	out := map[string][]string{}
	for _, w := range s.watches {
		out[w.typeURL] = slices.Sorted(maps.Keys(w.names))
	}
	return out
}

// reconsider wakes the stream to look at its proxy anew. It never blocks.
func (s *stream) reconsider() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// read takes all news in. If the proxy changed as well, both are sent together.
func (s *stream) read() {
	select {
	case <-s.kick:
		s.move()
	default:
	}
	for {
		select {
		case <-s.cursor.done:
		default:
			return
		}
		if n := s.next(); n.moved {
			s.move()
		}
	}
}

// next takes one piece of news in, which must be there.
func (s *stream) next() *news {
	n := s.cursor.next
	s.cursor = n
	s.turn.begin(s.server.now(), n.round)
	s.follow(n.deliveries)
	if !n.moved {
		s.version = n.version
		if w := s.watch(typeEndpoint); w != nil {
			for _, name := range n.names() {
				w.touch(name)
			}
		}
	}
	return n
}

// follow takes up transitions that come to the stream.
func (s *stream) follow(deliveries []tracked) {
	now := s.server.now()
	for _, d := range deliveries {
		s.tickets = append(s.tickets, &ticket{tracked: d, pending: true})
		s.server.metrics.queue.Observe(now.Sub(d.times.Published).Seconds())
	}
	if len(s.tickets) > maxTickets {
		old, rest := s.tickets[:len(s.tickets)-maxTickets/2], s.tickets[len(s.tickets)-maxTickets/2:]
		for _, t := range old {
			t.abandon(now)
		}
		s.tickets = slices.Clone(rest) // half of them, so that this is rare
	}
}

// touch has the endpoints of services looked at.
func (s *stream) touch(services []model.ServiceKey) {
	w := s.watch(typeEndpoint)
	if w == nil {
		return
	}
	for _, key := range services {
		s.shared.names(key, w.touch)
	}
}

// recognise takes the proxy as the core has it now. The one of that name may be a Pod
// in another cluster; then what is known so far has to do. A Pod may have an Envoy and
// libraries of gRPC: which of them this is the client says.
func (s *stream) recognise() {
	if p := s.server.core.Snapshot().Proxy(s.proxy.ID); p != nil && p.Pod == s.node.pinned.Pod {
		s.proxy = ofKind(p, s.node.told.GRPC)
	}
}

// ofKind is the proxy as a library of gRPC, or as an Envoy.
func ofKind(p *model.Proxy, grpc bool) *model.Proxy {
	if p.GRPC == grpc {
		return p
	}
	other := *p
	other.GRPC = grpc
	return &other
}

// move looks for the proxy's audience anew, and at all that changed on the way.
func (s *stream) move() {
	s.follow(s.server.hub.alone(s)) // first, so that the core has what they are about
	s.recognise()
	before, own, from, forced := s.shared, s.own, s.version, s.forced
	next := s.server.hub.join(s)
	s.part()
	s.settle(next)
	s.turn.begin(s.server.now(), next.round)
	if next.forced != forced {
		for _, w := range s.watches {
			w.again()
		}
	}
	s.touchNamed(s.shared.since(before))
	if s.own != own {
		s.touchNamed(s.own.since(own))
	}
	w := s.watch(typeEndpoint)
	if w == nil {
		return
	}
	for _, name := range s.shared.since(before).endpoints {
		w.touch(name)
	}
	if missed, ok := s.server.hub.missed(from); ok {
		s.touch(missed)
	} else {
		w.touchAll()
	}
}

// touchNamed has what is asked for by name looked at where the configuration says
// what it is. The difference is one of clusters.
func (s *stream) touchNamed(d *difference) {
	for _, w := range s.watches {
		switch w.typeURL {
		case typeListener, typeRoute:
			w.touchAll()
		case typeCluster:
			for _, e := range d.changed {
				w.touch(e.cluster.name)
			}
			for _, name := range d.removed {
				w.touch(name)
			}
		}
	}
}

// settle takes the clusters of a place over.
func (s *stream) settle(at place) {
	s.place = at
	s.shared = at.audience.clusters()
	own := newCatalog(s.server.hub.shop.entries(cds.Own(at.scope, s.server.core.Snapshot(), s.proxy), at.snap.Mesh, s.node.told.GRPC, s.server.hub.refuse))
	if s.own == nil || len(own.since(s.own).changed)+len(own.since(s.own).removed) > 0 {
		s.own = own
	}
}

// part leaves the audience, and reads what it was told of before.
func (s *stream) part() {
	for last := s.server.hub.leave(s.place); s.cursor != last; {
		s.next()
	}
}

// leave ends the stream's part in all transitions.
func (s *stream) leave() {
	s.part()
	s.server.hub.gone(s)
	s.turn.end()
	now := s.server.now()
	open := map[*ticket]bool{}
	for _, t := range s.tickets {
		open[t] = true
	}
	for _, w := range s.watches {
		for _, t := range w.tickets {
			open[t] = w.waiting || open[t]
		}
	}
	for t, yes := range open {
		if yes {
			t.delivery.Left(now, t.sent)
		}
	}
}

// watch returns the watch of a type, nil if there is none.
func (s *stream) watch(typeURL string) *watch {
	for _, w := range s.watches {
		if w.typeURL == typeURL {
			return w
		}
	}
	return nil
}

// insert keeps the watches in order: clusters before endpoints, listeners before
// routes, anything else last.
func (s *stream) insert(w *watch) {
	at := len(s.watches)
	for i, o := range s.watches {
		if rank(w.typeURL) < rank(o.typeURL) {
			at = i
			break
		}
	}
	s.watches = append(s.watches, nil)
	copy(s.watches[at+1:], s.watches[at:])
	s.watches[at] = w
}

func rank(typeURL string) int {
	switch typeURL {
	case typeCluster:
		return 0
	case typeEndpoint:
		return 1
	case typeListener:
		return 2
	case typeRoute:
		return 3
	}
	return 4
}

// flush sends what is due, one message per type whose last one is answered.
func (s *stream) flush() error {
	left := false
	for _, w := range s.watches {
		if w.waiting {
			left = left || s.due(w)
			continue
		}
		now := s.server.now()
		r := s.compose(w)
		if r == nil {
			continue
		}
		s.turn.begin(now, nil)
		s.nonces++
		r.nonce = strconv.FormatUint(s.nonces, 10)
		w.sent(r, now, s.tickets)
		if err := s.send(r, now, len(w.refused) > 0); err != nil {
			return err
		}
		left = left || s.due(w)
	}
	s.settleTickets(left, s.server.now())
	return nil
}

// settleTickets lets go of the tickets of transitions that are sent in full.
func (s *stream) settleTickets(left bool, now time.Time) {
	if left {
		return
	}
	for _, t := range s.tickets {
		if t.sent {
			s.server.metrics.convergence.Observe(now.Sub(t.times.Seen).Seconds())
		}
		t.pending = false
		t.settle(now)
	}
	s.tickets = s.tickets[:0:0]
	s.turn.end()
}

// send writes a response that was begun at a moment. refused tells that the client
// refuses something else.
func (s *stream) send(r *response, begun time.Time, refused bool) error {
	s.record.sending(r, begun, refused)
	m := r.message()
	size := m.Len()
	err := s.write(m)
	s.record.written()
	s.server.metrics.sent(r, size, s.server.now().Sub(begun))
	return err
}
