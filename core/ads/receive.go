package ads

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/edsight/edsight/core/journal"
)

// receive takes a request in.
func (s *stream) receive(r *request) error {
	w := s.watch(r.typeURL)
	first := w == nil
	switch {
	case first && len(s.watches) >= maxTypes:
		return status.Error(codes.ResourceExhausted, "too many types on one stream")
	case first:
		if r.typeURL == typeEndpoint {
			s.endpointsAsked(r)
		}
		w = newWatch(r.typeURL)
		s.insert(w)
	case w.answered(r.nonce):
		s.answer(w, r)
	case r.nonce != "" && r.nonce != w.nonce:
		s.server.metrics.typed(r.typeURL).expired.Inc()
	}
	// What is asked for counts even if the nonce is an older one's: requests come
	// in order.
	s.share(r.typeURL, r.names)
	s.share(r.typeURL, r.subscribe)
	if s.delta {
		w.subscribeDelta(r, first)
	} else {
		w.subscribeSotW(r.names)
	}
	bytes := 0
	for _, w := range s.watches {
		bytes += w.bytes
	}
	if len(w.names) > maxNames || bytes > maxBytes {
		return status.Errorf(codes.ResourceExhausted, "more than %d names of %s, or %d bytes of names, are asked for", maxNames, w.typeURL, maxBytes)
	}
	s.record.subscribed(w)
	return nil
}

// endpointsAsked forgets what a client says to have of the endpoints of clusters
// that were sent meanwhile: it waits for these.
func (s *stream) endpointsAsked(r *request) {
	if w := s.watch(typeCluster); w == nil || !w.started {
		return
	}
	for name := range r.initial {
		if e := s.shared.find(name); e == nil || s.had[name] != e.cluster.version {
			delete(r.initial, name)
		}
	}
	s.had = nil
}

// share puts the names that all streams have in the place of the client's: they
// are kept for each.
func (s *stream) share(typeURL string, names []string) {
	if typeURL != typeEndpoint && typeURL != typeCluster {
		return
	}
	for i, name := range names {
		if e := s.shared.find(name); e != nil {
			names[i] = e.cluster.name
		}
	}
}

// answer notes what the client says to a response.
func (s *stream) answer(w *watch, r *request) {
	now := s.server.now()
	var refused *journal.Rejection
	if r.rejected != nil {
		refused = &journal.Rejection{Proxy: s.proxy.ID, Type: w.typeURL, Message: r.rejected.GetMessage(), Time: now}
		w.refuse(refused.Message)
	}
	w.carried = nil
	s.turn.answered(now)
	s.server.metrics.answered(w.typeURL, refused != nil, s.record.answered(w.typeURL, refused, now))
	for _, t := range w.tickets {
		t.answer(now, refused)
	}
	w.tickets = nil
}
