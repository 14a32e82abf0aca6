package server

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// maxLarge is how many large answers are written at a time.
	maxLarge = 8
	// fairTime is how long a large answer keeps its seat when others want it.
	fairTime = 10 * time.Second
)

// seats are those of large answers, which are written while they are made and so take
// as long as their client does. The zero value is ready.
type seats struct {
	mu   sync.Mutex // protects held
	held []*seat    // in the order in which they were taken
}

type seat struct {
	since time.Time
	end   func()
}

// take takes a seat for an answer which end ends; nil if there is none. An answer that
// has had its time is ended for another.
func (h *seats) take(now time.Time, end func()) *seat {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.held) == maxLarge {
		first := h.held[0]
		if now.Sub(first.since) < fairTime {
			return nil
		}
		first.end() // with the lock, so that the answer has not gone, and its client with it
		h.held = h.held[1:]
	}
	one := &seat{since: now, end: end}
	h.held = append(h.held, one)
	return one
}

// leave gives a seat back.
func (h *seats) leave(one *seat) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held = slices.DeleteFunc(h.held, func(o *seat) bool { return o == one })
}

// enterLarge takes a seat for a large answer, unless there is none; leave gives it back.
func (s *Server) enterLarge(w http.ResponseWriter) (leave func(), err error) {
	end := func() { _ = cutOff(w) } // what cannot be cut off does not wait for a client
	one := s.large.take(s.now(), end)
	if one == nil {
		w.Header().Set("Retry-After", "1")
		return nil, errorf(http.StatusServiceUnavailable, "%d large answers are being read already", maxLarge)
	}
	return func() { s.large.leave(one) }, nil
}

// cutOff makes everything fail that is still to be written to the client.
func cutOff(w http.ResponseWriter) error {
	return http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0))
}
