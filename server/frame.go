package server

import (
	"encoding/json"
	"sync"

	"github.com/gorilla/websocket"

	"github.com/edsight/edsight/core/journal"
)

// frameRing is how many encoded transitions are kept for the readers to come.
const frameRing = 256

// ring keeps what was made of the last transitions, so that it is made once.
type ring[V any] struct {
	build func(*journal.Transition) (V, error)

	mu    sync.Mutex // protects slots
	slots [frameRing]struct {
		seq uint64
		get func() (V, error)
	}
}

// get returns what is made of a transition. It is made when the first reader
// asks for it; others wait for that one, not for the lock.
func (r *ring[V]) get(t *journal.Transition) (V, error) {
	r.mu.Lock()
	slot := &r.slots[t.Seq%frameRing]
	if slot.get == nil || slot.seq != t.Seq {
		slot.seq = t.Seq
		slot.get = sync.OnceValues(func() (V, error) { return r.build(t) })
	}
	get := slot.get
	r.mu.Unlock()
	return get()
}

// frames are transitions in the form of one protocol.
type frames = ring[*websocket.PreparedMessage]

func newFrames(encode func(*journal.Transition) ([]byte, error)) *frames {
	return &frames{build: func(t *journal.Transition) (*websocket.PreparedMessage, error) {
		text, err := encode(t)
		if err != nil {
			return nil, err
		}
		return websocket.NewPreparedMessage(websocket.TextMessage, text)
	}}
}

// jsonFrame is what a reader of JSON gets: one of the two.
type jsonFrame struct {
	Transition json.RawMessage `json:"transition,omitempty"`
	Gap        *journal.Gap    `json:"gap,omitempty"`
}

// transitions are transitions in JSON.
type transitions = ring[json.RawMessage]

func newTransitions() *transitions {
	return &transitions{build: func(t *journal.Transition) (json.RawMessage, error) {
		return json.Marshal(newTransition(t, false))
	}}
}

func (l *live) encodeTransition(t *journal.Transition) ([]byte, error) {
	text, err := l.transitions.get(t)
	if err != nil {
		return nil, err
	}
	return json.Marshal(jsonFrame{Transition: text})
}

func encodeGap(g *journal.Gap) ([]byte, error) { return json.Marshal(jsonFrame{Gap: g}) }
