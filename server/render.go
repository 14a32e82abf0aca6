package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/a-h/templ"
)

// pageFunc answers with the view model of a page, which programs get as JSON,
// and the component that shows it to people.
type pageFunc func(r *http.Request) (model any, page templ.Component, err error)

// page makes a handler which answers with one or the other.
func (s *Server) page(f pageFunc) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		m, c, err := f(r)
		if err != nil {
			return err
		}
		w.Header().Add("Vary", "Accept")
		if wantsJSON(r) {
			return s.writeJSON(w, r, http.StatusOK, m)
		}
		return s.writePage(w, r, http.StatusOK, c)
	}
}

// piecewise writes JSON as it is made, with an indent.
type piecewise = func(w io.Writer, indent string) error

// value makes a handler which answers with JSON.
func (s *Server) value(f func(r *http.Request) (any, error)) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		v, err := f(r)
		if err != nil {
			return err
		}
		return s.writeJSON(w, r, http.StatusOK, v)
	}
}

// stream makes a handler whose JSON is written piece by piece as it is made,
// with the indent that the caller asks for.
func (s *Server) stream(f func(r *http.Request) (piecewise, error)) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		write, err := f(r)
		if err != nil {
			return err
		}
		leave, err := s.enterLarge(w)
		if err != nil {
			return err
		}
		defer leave()
		setJSON(w.Header())
		if err := write(w, indentOf(r)); err != nil {
			s.breakOff(w, r, err)
		}
		return nil
	}
}

// breakOff ends an answer that is not complete in a way that the caller notices:
// its end can no longer be written.
func (s *Server) breakOff(w http.ResponseWriter, r *http.Request, err error) {
	level := slog.LevelWarn
	if r.Context().Err() != nil || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		level = slog.LevelDebug // the caller has left
	}
	s.log.Log(r.Context(), level, "answer broken off", "path", r.URL.Path, "error", err)
	if err := cutOff(w); err != nil && !errors.Is(err, net.ErrClosed) {
		s.log.WarnContext(r.Context(), "connection stays open", "path", r.URL.Path, "error", err)
	}
}

// indentOf returns the indent of JSON which ?pretty asks for.
func indentOf(r *http.Request) string {
	if r.URL.Query().Has("pretty") {
		return "  "
	}
	return ""
}

func setJSON(h http.Header) {
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
}

// writeJSON answers with JSON, indented if asked for.
func (s *Server) writeJSON(w http.ResponseWriter, r *http.Request, status int, v any) error {
	return s.writeIndented(w, r, status, v, indentOf(r))
}

// writeIndented encodes into a buffer first, so that an error can still be told.
func (s *Server) writeIndented(w http.ResponseWriter, r *http.Request, status int, v any, indent string) error {
	var b bytes.Buffer
	if err := encodeTo(&b, v, indent); err != nil {
		return err
	}
	setJSON(w.Header())
	s.send(w, r, status, &b)
	return nil
}

func encodeTo(w io.Writer, v any, indent string) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", indent)
	return enc.Encode(v)
}

// writePage renders into a buffer first, so that an error can still be told.
func (s *Server) writePage(w http.ResponseWriter, r *http.Request, status int, c templ.Component) error {
	var b bytes.Buffer
	if err := c.Render(r.Context(), &b); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	s.send(w, r, status, &b)
	return nil
}

// send writes the answer. Nobody is left to be told of an error.
func (s *Server) send(w http.ResponseWriter, r *http.Request, status int, b *bytes.Buffer) {
	w.WriteHeader(status)
	if _, err := b.WriteTo(w); err != nil {
		s.log.DebugContext(r.Context(), "caller went away", "path", r.URL.Path, "error", err)
	}
}

// wantsJSON tells whether a page is asked for as JSON: by a path that ends in
// ".json", or by accepting JSON and not HTML.
func wantsJSON(r *http.Request) bool {
	return jsonSuffixed(r) || (accepts(r, "application/json") && !accepts(r, "text/html"))
}

// isBrowser tells whether an error is best shown as a page.
func isBrowser(r *http.Request) bool { return accepts(r, "text/html") && !jsonSuffixed(r) }

// accepts tells whether the caller names the type among those it accepts.
func accepts(r *http.Request, mediaType string) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		if t, _, err := mime.ParseMediaType(part); err == nil && t == mediaType {
			return true
		}
	}
	return false
}
