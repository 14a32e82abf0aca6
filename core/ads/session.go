package ads

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/session"
)

// record is the status of a stream, which others read.
type record struct {
	id, proxy string

	mu     sync.Mutex // protects all below
	status session.Session
	types  map[string]*session.Type
	since  time.Time // when the write under way began
}

func newRecord(s session.Session) *record {
	return &record{proxy: s.Proxy, status: s, types: map[string]*session.Type{}}
}

func (r *record) typeLocked(url string) *session.Type {
	t := r.types[url]
	if t == nil {
		t = &session.Type{URL: url}
		r.types[url] = t
	}
	return t
}

func (r *record) subscribed(w *watch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.typeLocked(w.typeURL)
	t.Wildcard, t.Names = w.wild, len(w.names)
}

// sending notes a message; its write begins. What the client said against an earlier one
// stands if it refused something that this does not say anew.
func (r *record) sending(m *response, at time.Time, refused bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.typeLocked(m.typeURL)
	t.Sent = session.Message{Version: m.version, Nonce: m.nonce, Time: at}
	if !refused {
		t.Error, t.ErrorAt = "", time.Time{}
	}
	t.Messages++
	t.Resources += len(m.resources)
	r.since = at
}

// written notes the end of the write.
func (r *record) written() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.since = time.Time{}
}

// answered notes an answer to the last message, and returns how long it took.
func (r *record) answered(url string, refused *journal.Rejection, at time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.typeLocked(url)
	if refused != nil {
		t.Error, t.ErrorAt = cmp.Or(refused.Message, "refused without a message"), at
	} else {
		t.Acked = t.Sent
		t.Acked.Time = at
	}
	return at.Sub(t.Sent.Time)
}

// stuck tells whether a write takes longer than limit.
func (r *record) stuck(now time.Time, limit time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.since.IsZero() && now.Sub(r.since) > limit
}

// read returns a copy of the status.
func (r *record) read() session.Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.status
	for _, t := range r.types {
		out.Types = append(out.Types, *t)
	}
	slices.SortFunc(out.Types, func(a, b session.Type) int { return cmp.Compare(a.URL, b.URL) })
	return out
}
