package server

import (
	"crypto/subtle"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// loginEvery and loginBurst bound the attempts to log in.
	loginEvery = 2 * time.Second
	loginBurst = 10
	// maxLoginLinks is how many login links can be open at a time.
	maxLoginLinks = 16
	maxLoginBody  = 4 << 10
)

// links are the login links that have not been used yet.
type links struct {
	mu   sync.Mutex // protects open
	open []digest
}

// add makes a new link's token; the oldest link goes when there are too many.
func (l *links) add() string {
	token := newSecret()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) == maxLoginLinks {
		l.open = l.open[1:]
	}
	l.open = append(l.open, digestOf(token))
	return token
}

// use tells whether the token is that of an open link, which it closes.
func (l *links) use(token string) bool {
	d := digestOf(token)
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.open {
		if subtle.ConstantTimeCompare(l.open[i][:], d[:]) == 1 {
			l.open = append(l.open[:i:i], l.open[i+1:]...)
			return true
		}
	}
	return false
}

// LoginPath returns the path and query of a new login link. It admits one
// browser, once.
func (s *Server) LoginPath() string {
	return "/login?" + url.Values{"token": {s.links.add()}}.Encode()
}

func (s *Server) loginRoutes() []route {
	return []route{
		{method: http.MethodGet, pattern: "/login", help: "the login page; with token=, logs in by a link that works once", access: accessPublic, handle: s.handleLoginLink},
		{method: http.MethodPost, pattern: "/login", help: "logs in with the form field token", access: accessPublic, mutates: true, handle: s.handleLoginForm},
		{method: http.MethodPost, pattern: "/logout", help: "ends the session", mutates: true, handle: s.handleLogout},
	}
}

func (s *Server) handleLoginLink(w http.ResponseWriter, r *http.Request) error {
	token := r.URL.Query().Get("token")
	if token == "" {
		return s.writePage(w, r, http.StatusOK, s.loginPage(r, ""))
	}
	return s.logIn(w, r, token)
}

func (s *Server) handleLoginForm(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxLoginBody)
	if err := r.ParseForm(); err != nil {
		return badRequest("the form cannot be read")
	}
	return s.logIn(w, r, strings.TrimSpace(r.PostForm.Get("token")))
}

func (s *Server) logIn(w http.ResponseWriter, r *http.Request, token string) error {
	if !s.attempts.AllowN(s.now(), 1) {
		w.Header().Set("Retry-After", "10")
		return errorf(http.StatusTooManyRequests, "too many attempts to log in; wait ten seconds")
	}
	if !s.links.use(token) && !s.isToken(token) {
		const message = "This link or token is not valid (any more). A login link works once."
		if !isBrowser(r) {
			return errorf(http.StatusUnauthorized, "%s", message)
		}
		return s.writePage(w, r, http.StatusUnauthorized, s.loginPage(r, message))
	}
	secret, sess := s.sessions.start()
	recordOf(r).identity = sess.identity()
	http.SetCookie(w, sessionCookie(r, secret, int(sessionLifetime/time.Second)))
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}

func (s *Server) handleLogout(w http.ResponseWriter, r *http.Request) error {
	if c, err := r.Cookie(cookieName(r)); err == nil {
		s.sessions.end(c.Value)
	}
	http.SetCookie(w, sessionCookie(r, "", -1))
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, "/login", http.StatusSeeOther)
	return nil
}

// isToken tells whether the text is the token for programs.
func (s *Server) isToken(text string) bool {
	if s.opts.Token == "" {
		return false
	}
	want, got := digestOf(s.opts.Token), digestOf(text)
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

func (s *session) identity() identity {
	return identity{name: s.name, role: s.role, namespaces: s.namespaces, session: s}
}

func newAttempts() *rate.Limiter { return rate.NewLimiter(rate.Every(loginEvery), loginBurst) }
