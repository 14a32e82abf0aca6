package server

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"strings"

	"github.com/a-h/templ"
)

// page is what a handler of a page answers: the view model, which programs get
// as JSON, and the component that shows it to people.
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

// writeJSON encodes into a buffer first, so that an error can still be told.
func (s *Server) writeJSON(w http.ResponseWriter, r *http.Request, status int, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	if r.URL.Query().Has("pretty") {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(v); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, err := w.Write(b.Bytes())
	return ignoreClosed(err)
}

// writePage renders into a buffer first, so that an error can still be told.
func (s *Server) writePage(w http.ResponseWriter, r *http.Request, status int, c templ.Component) error {
	var b bytes.Buffer
	if err := c.Render(r.Context(), &b); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, err := w.Write(b.Bytes())
	return ignoreClosed(err)
}

// ignoreClosed drops the error of a caller that has gone: nobody is left to
// tell, and the status is written already.
func ignoreClosed(error) error { return nil }

// wantsJSON tells whether the caller is a program: its path ended in ".json", or
// it accepts JSON and not HTML.
func wantsJSON(r *http.Request) bool {
	if jsonSuffixed(r) {
		return true
	}
	html, js := false, false
	for part := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		t, _, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		html = html || t == "text/html"
		js = js || t == "application/json"
	}
	return js && !html
}

func jsonSuffixed(r *http.Request) bool { return false }
