package ads

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/edsight/edsight/core/journal"
)

// Session is one connected client as it was at one moment.
type Session struct {
	// ID is "<pod>.<namespace>-<number>".
	ID string
	// Proxy is the ID of the proxy, "<pod>.<namespace>".
	Proxy       string
	Node        Node
	Address     string
	ConnectedAt time.Time
	Delta       bool
	// Types in the order of their URLs.
	Types []TypeStatus
}

// Node is what the client says of itself.
type Node struct {
	ID, Cluster, Type, IstioVersion string
	GRPC                            bool
	Labels                          map[string]string
}

// TypeStatus is what was sent of one type and what the client answered.
type TypeStatus struct {
	TypeURL string
	// Wildcard tells that everything of the type is asked for; Names counts those
	// asked for by name.
	Wildcard bool
	Names    int
	// SentVersion, SentNonce and SentAt are of the last message, empty if there is
	// none yet.
	SentVersion, SentNonce string
	SentAt                 time.Time
	// AckedVersion, AckedNonce and AckedAt are of the last that was acknowledged.
	AckedVersion, AckedNonce string
	AckedAt                  time.Time
	// Error is what the client said against the last message, "" if it did not.
	Error     string
	ErrorAt   time.Time
	Messages  int
	Resources int
}

// Waiting tells whether the answer to the last message has not come.
func (t *TypeStatus) Waiting() bool {
	return t.SentNonce != "" && t.SentNonce != t.AckedNonce && t.Error == ""
}

// session is the status of a stream, which others read.
type session struct {
	mu     sync.Mutex // protects all below
	status Session
	types  map[string]*TypeStatus
	since  time.Time // when the write under way began
}

func newSession(s Session) *session {
	return &session{status: s, types: map[string]*TypeStatus{}}
}

func (s *session) typeLocked(typeURL string) *TypeStatus {
	t := s.types[typeURL]
	if t == nil {
		t = &TypeStatus{TypeURL: typeURL}
		s.types[typeURL] = t
	}
	return t
}

func (s *session) subscribed(w *watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.typeLocked(w.typeURL)
	t.Wildcard, t.Names = w.wild, len(w.names)
}

func (s *session) sent(typeURL string, r *response, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.typeLocked(typeURL)
	t.SentVersion, t.SentNonce, t.SentAt = r.version, r.nonce, at
	t.Error = ""
	t.Messages++
	t.Resources += len(r.resources)
}

func (s *session) answered(typeURL, nonce string, refused *journal.Rejection, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.typeLocked(typeURL)
	if t.SentNonce != nonce {
		return // to an older message
	}
	if refused != nil {
		t.Error, t.ErrorAt = cmp.Or(refused.Message, "refused without a message"), at
		return
	}
	t.AckedVersion, t.AckedNonce, t.AckedAt = t.SentVersion, nonce, at
}

// sending notes when a write began; the zero time is its end.
func (s *session) sending(since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since = since
}

// stuck tells whether a write takes longer than limit.
func (s *session) stuck(now time.Time, limit time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.since.IsZero() && now.Sub(s.since) > limit
}

// read returns a copy of the status.
func (s *session) read() Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.status
	for _, t := range s.types {
		out.Types = append(out.Types, *t)
	}
	slices.SortFunc(out.Types, func(a, b TypeStatus) int { return cmp.Compare(a.TypeURL, b.TypeURL) })
	return out
}
