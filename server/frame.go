package server

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/gorilla/websocket"

	"github.com/edsight/edsight/core/journal"
)

// frameRing is how many frames are kept for the readers that come next.
const frameRing = 256

// frame is a transition in the form of one protocol, encoded once for all.
type frame struct {
	text     []byte
	prepared *websocket.PreparedMessage
}

// frames encodes transitions and keeps the last of them.
type frames struct {
	encode func(*journal.Transition) ([]byte, error)

	mu   sync.Mutex // protects ring
	ring [frameRing]struct {
		seq uint64
		get func() (frame, error)
	}
}

func newFrames(encode func(*journal.Transition) ([]byte, error)) *frames {
	return &frames{encode: encode}
}

// get returns the frame of a transition, which is encoded when the first reader
// asks for it. Others wait for him, not for the lock.
func (f *frames) get(t *journal.Transition) (frame, error) {
	f.mu.Lock()
	slot := &f.ring[t.Seq%frameRing]
	if slot.get == nil || slot.seq != t.Seq {
		slot.seq = t.Seq
		slot.get = sync.OnceValues(func() (frame, error) { return f.make(t) })
	}
	get := slot.get
	f.mu.Unlock()
	return get()
}

func (f *frames) make(t *journal.Transition) (frame, error) {
	text, err := f.encode(t)
	if err != nil {
		return frame{}, err
	}
	prepared, err := websocket.NewPreparedMessage(websocket.TextMessage, text)
	return frame{text: text, prepared: prepared}, err
}

// jsonFrame is what a reader of JSON gets: one of the two.
type jsonFrame struct {
	Transition *transitionJSON `json:"transition,omitempty"`
	Gap        *journal.Gap    `json:"gap,omitempty"`
}

func encodeTransition(t *journal.Transition) ([]byte, error) {
	return encodeJSON(jsonFrame{Transition: newTransition(t, false)})
}

func encodeGap(g *journal.Gap) ([]byte, error) { return encodeJSON(jsonFrame{Gap: g}) }

func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	err := json.NewEncoder(&b).Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
