package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"sync"
	"time"
)

// sessionLifetime is how long a login lasts.
const sessionLifetime = 12 * time.Hour

// session is one login.
type session struct {
	name       string
	role       role
	namespaces []string // of a viewer
	expires    time.Time
	over       context.Context // done after the logout
	end        context.CancelFunc
}

// live tells whether the session is neither expired nor ended.
func (s *session) live(now time.Time) bool {
	return s.over.Err() == nil && now.Before(s.expires)
}

// digest is how secrets are kept: one that leaks from memory is of no use.
type digest [sha256.Size]byte

func digestOf(secret string) digest { return sha256.Sum256([]byte(secret)) }

// newSecret returns 256 random bits or a little more, as text.
func newSecret() string { return rand.Text() + rand.Text() }

// sessions are the logins that are under way.
type sessions struct {
	now func() time.Time

	mu       sync.Mutex // protects all below
	bySecret map[digest]*session
}

func newSessions(now func() time.Time) *sessions {
	return &sessions{now: now, bySecret: map[digest]*session{}}
}

// start returns the secret of a new session of an admin.
func (s *sessions) start() (string, *session) {
	secret, now := newSecret(), s.now()
	d := digestOf(secret)
	n := &session{name: "session-" + hex.EncodeToString(d[:4]), role: roleAdmin, expires: now.Add(sessionLifetime)}
	n.over, n.end = context.WithCancel(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	for d, old := range s.bySecret {
		if !old.live(now) {
			old.end()
			delete(s.bySecret, d)
		}
	}
	s.bySecret[d] = n
	return secret, n
}

// find returns the live session with that secret, or nil.
func (s *sessions) find(secret string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.bySecret[digestOf(secret)]; n != nil && n.live(s.now()) {
		return n
	}
	return nil
}

// end ends the session with that secret, and the live feeds that hang on it.
func (s *sessions) end(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := digestOf(secret)
	if n := s.bySecret[d]; n != nil {
		delete(s.bySecret, d)
		n.end()
	}
}

// cookieName holds the port, as browsers do not keep cookies apart by port.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil || port == "" {
		port = "default"
	}
	return "edsight-session-" + port
}

func sessionCookie(r *http.Request, secret string, maxAge int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // without TLS a Secure cookie would not come back
		Name: cookieName(r), Value: secret, Path: "/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	}
}
