package server

import (
	"errors"
	"fmt"
	"net/http"
)

// httpError is an error with a status, and words that the caller may see.
type httpError struct {
	Status  int    `json:"status"`
	Message string `json:"error"`
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

// fail answers with the error: a page for people, JSON for programs. What is
// not an httpError is logged and kept from the caller.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var e *httpError
	if !errors.As(err, &e) {
		s.log.ErrorContext(r.Context(), "request failed", "path", r.URL.Path, "error", err)
		e = &httpError{Status: http.StatusInternalServerError, Message: "internal error; the log says more"}
	}
	if wantsJSON(r) {
		s.writeJSON(w, r, e.Status, e)
		return
	}
	s.writePage(w, r, e.Status, s.errorPage(r, e))
}
