package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// Caller is who asks at another door than HTTP's. The zero value is nobody.
type Caller struct {
	Name string
	// All tells that everything may be read; Namespaces are what may be read
	// otherwise.
	All        bool
	Namespaces []string
}

func (c Caller) identity() identity {
	switch {
	case c.All:
		return identity{name: c.Name, role: roleReader}
	case len(c.Namespaces) > 0:
		return identity{name: c.Name, role: roleViewer, namespaces: c.Namespaces}
	}
	return identity{name: c.Name}
}

// ErrNoHandler says that there is no debug handler of a name.
var ErrNoHandler = errors.New("there is no such debug handler")

// ErrNotAnswered says that a debug handler did not give its whole answer.
var ErrNotAnswered = errors.New("the answer was broken off; the log says more")

// Debug answers what the debug handler of that name and query would, decided by
// the same rights. An error that is neither ErrNoHandler nor ErrNotAnswered says that
// the caller may not ask.
func (s *Server) Debug(ctx context.Context, c Caller, name string) ([]byte, error) {
	u, err := url.Parse(debugPrefix + name)
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %w", ErrNoHandler, name, err)
	}
	rec := &record{identity: c.identity()}
	r := withRecord((&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}, Host: "xds"}).WithContext(ctx), rec)
	var names []string
	for _, rt := range s.debugRoutes() {
		if rt.mutates || rt.pattern == debugPrefix {
			continue // for others to ask
		}
		if rt.pattern != u.Path {
			names = append(names, strings.TrimPrefix(rt.pattern, debugPrefix))
			continue
		}
		if rec.identity.role == roleNone || (!rt.namespaced && !authorize(rec.identity, actionRead, "")) {
			return nil, fmt.Errorf("%s may not read %s", orNobody(c.Name), rt.pattern)
		}
		rec.pattern = rt.pattern
		body, err := s.answer(&rt, r)
		s.log.InfoContext(ctx, "request", "who", rec.identity.name, "role", rec.identity.role.String(), "method", "xDS", "path", u.Path, "bytes", len(body))
		return body, err
	}
	return nil, fmt.Errorf("%w: %q; there are %s", ErrNoHandler, name, strings.Join(names, ", "))
}

// answer lets a handler answer as it does over HTTP, where others recover from a panic.
func (s *Server) answer(rt *route, r *http.Request) (body []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("debug handler failed", "path", r.URL.Path, "panic", p)
			body, err = nil, ErrNotAnswered
		}
	}()
	w := &kept{header: http.Header{}}
	s.cores.share(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := rt.handle(w, r); err != nil {
			s.fail(w, r, err)
		}
	})).ServeHTTP(w, r)
	if w.cut.Load() || r.Context().Err() != nil {
		return nil, ErrNotAnswered
	}
	return w.Bytes(), nil
}

func orNobody(name string) string {
	if name == "" {
		return "an anonymous caller"
	}
	return name
}

// kept is what a handler has written, until it is cut off.
type kept struct {
	bytes.Buffer
	header http.Header
	cut    atomic.Bool
}

// Header implements http.ResponseWriter.
func (k *kept) Header() http.Header { return k.header }

// WriteHeader implements http.ResponseWriter; the status goes nowhere.
func (k *kept) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (k *kept) Write(p []byte) (int, error) {
	if k.cut.Load() {
		return 0, os.ErrDeadlineExceeded
	}
	return k.Buffer.Write(p)
}

// SetWriteDeadline is for http.ResponseController, with which answers are cut off.
func (k *kept) SetWriteDeadline(time.Time) error {
	k.cut.Store(true)
	return nil
}
