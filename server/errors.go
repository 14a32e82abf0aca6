package server

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/edsight/edsight/views"
)

// httpError is an error with a status, and words that the caller may see.
type httpError struct {
	Status  int    `json:"status"`
	Message string `json:"error"`
	// Next are places to go instead.
	Next []views.Link `json:"next,omitempty"`
	// Ask is the question that cannot be answered, for people to correct.
	Ask *views.Explain `json:"-"`
}

func (e *httpError) Error() string { return e.Message }

func errorf(status int, format string, args ...any) error {
	return &httpError{Status: status, Message: fmt.Sprintf(format, args...)}
}

// notFound says that there is no such thing, or none that the caller may see.
func notFound(format string, args ...any) error { return errorf(http.StatusNotFound, format, args...) }

// badRequest says what is wrong with the request.
func badRequest(format string, args ...any) error {
	return errorf(http.StatusBadRequest, format, args...)
}

// statusLeft is noted of a request whose caller did not wait for the answer.
const statusLeft = 499

// errLogin says that nobody has logged in.
var errLogin = &httpError{Status: http.StatusUnauthorized, Message: "log in, or send a bearer token"}

// fail answers with the error: a page for people, text below /debug as istiod
// does, else JSON. What is not an httpError is logged and kept from the caller, unless
// it is that the caller has left.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	level := slog.LevelError
	if r.Context().Err() != nil {
		level = slog.LevelDebug
	}
	var e *httpError
	if !errors.As(err, &e) {
		s.log.Log(r.Context(), level, "request failed", "path", r.URL.Path, "error", err)
		e = &httpError{Status: http.StatusInternalServerError, Message: "internal error; the log says more"}
		if level == slog.LevelDebug {
			e = &httpError{Status: statusLeft, Message: "the caller has left"}
		}
	}
	if e.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="edsight"`)
	}
	if err := s.writeError(w, r, e); err != nil {
		s.log.Log(r.Context(), level, "error page failed", "path", r.URL.Path, "error", err)
		w.WriteHeader(e.Status)
	}
}

func (s *Server) writeError(w http.ResponseWriter, r *http.Request, e *httpError) error {
	switch {
	case isBrowser(r) && e == errLogin:
		return s.writePage(w, r, e.Status, s.loginPage(r, ""))
	case isBrowser(r):
		return s.writePage(w, r, e.Status, s.errorPage(r, e))
	case strings.HasPrefix(r.URL.Path, "/debug/"):
		http.Error(w, e.Message, e.Status)
		return nil
	default:
		return s.writeJSON(w, r, e.Status, e)
	}
}
