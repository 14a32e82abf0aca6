package server

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/edsight/edsight/core/journal"
)

// The protocols of the live feed.
const (
	protocolHTML = "edsight.v1.html"
	protocolJSON = "edsight.v1.json"
)

// How many live readers there can be.
const (
	maxReaders         = 1024
	maxSessionReaders  = 256
	readerWriteBuffer  = 16 << 10
	readerMessageLimit = 512 // readers have nothing to say
)

// live keeps account of the live readers.
type live struct {
	upgrader websocket.Upgrader
	html     *protocol
	json     *protocol
	// transitions in JSON, for frames and for the API.
	transitions *transitions

	mu     sync.Mutex     // protects all below
	counts map[string]int // by identity
	total  int
}

// protocol is one form of the feed.
type protocol struct {
	frames *frames
	gap    func(*journal.Gap) ([]byte, error)
}

func newLive(s *Server) *live {
	l := &live{
		upgrader: websocket.Upgrader{
			Subprotocols:    []string{protocolHTML, protocolJSON},
			WriteBufferSize: readerWriteBuffer,
			WriteBufferPool: &sync.Pool{},
			// The origin was checked before the routes, as for every request.
			CheckOrigin: func(*http.Request) bool { return true },
		},
		html:        &protocol{frames: newFrames(s.liveFrame), gap: s.gapFrame},
		transitions: newTransitions(),
		counts:      map[string]int{},
	}
	l.json = &protocol{frames: newFrames(l.encodeTransition), gap: encodeGap}
	return l
}

// enter counts a reader in, unless there are too many.
func (l *live) enter(who string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.total == maxReaders || l.counts[who] == maxSessionReaders {
		return false
	}
	l.total++
	l.counts[who]++
	return true
}

func (l *live) leave(who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	l.counts[who]--
	if l.counts[who] == 0 {
		delete(l.counts, who)
	}
}

func (l *live) readers() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

func (s *Server) liveRoutes() []route {
	return []route{{
		method: http.MethodGet, pattern: "/ws", websocket: true, handle: s.handleLive,
		help: "the live feed of transitions; since= resumes, namespace=, service=, proxy=, address= and push= filter, stations sends the pipeline too (HTML)",
	}}
}

// handleLive upgrades to a websocket and feeds it until it is closed.
func (s *Server) handleLive(w http.ResponseWriter, r *http.Request) error {
	p, err := s.protocolOf(r)
	if err != nil {
		return err
	}
	f, err := newFilter(r.URL.Query())
	if err != nil {
		return err
	}
	next, err := s.sinceOf(r, s.core.Journal().Last()+1)
	if err != nil {
		return err
	}
	id := identityOf(r)
	if !s.live.enter(id.name) {
		return errorf(http.StatusServiceUnavailable, "there are too many live readers")
	}
	defer s.live.leave(id.name)
	conn, err := s.live.upgrader.Upgrade(w, r, nil)
	if err != nil {
		// The upgrader has answered already.
		s.log.InfoContext(r.Context(), "no websocket", "error", err)
		return nil
	}
	rd := &reader{server: s, conn: conn, protocol: p, identity: id, filter: f, next: next}
	if p == s.live.html {
		rd.statusAt, rd.stations = time.Now().Add(stationsEvery), r.URL.Query().Has("stations")
	}
	rd.run(context.WithoutCancel(r.Context()))
	return nil
}

func (s *Server) protocolOf(r *http.Request) (*protocol, error) {
	offered := websocket.Subprotocols(r)
	switch {
	case slices.Contains(offered, protocolHTML):
		return s.live.html, nil
	case len(offered) == 0 || slices.Contains(offered, protocolJSON):
		return s.live.json, nil
	}
	return nil, badRequest("the subprotocols are %s and %s", protocolHTML, protocolJSON)
}

// sinceOf reads since=, the sequence number of the first transition wanted.
func (s *Server) sinceOf(r *http.Request, absent uint64) (uint64, error) {
	text := r.URL.Query().Get("since")
	if text == "" {
		return absent, nil
	}
	since, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, badRequest("since is a sequence number, not %q", text)
	}
	return since, nil
}
