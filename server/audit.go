package server

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5/middleware"
)

// audit writes a line per request: who, in which role, what, and the result. At
// the level that is usual only those that matter to security are seen.
// The query is left out, as it may hold a login token.
func (s *Server) audit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start, rec := s.now(), &record{}
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		defer s.note(r, ww, rec, start)
		next.ServeHTTP(ww, withRecord(r, rec))
	})
}

// note counts and logs an answered request, also one whose handler panicked.
func (s *Server) note(r *http.Request, w middleware.WrapResponseWriter, rec *record, start time.Time) {
	status, took := statusOf(w, r), s.now().Sub(start)
	s.metrics.observe(rec.pattern, status, took)
	s.log.LogAttrs(r.Context(), auditLevel(r, rec, status), "request",
		slog.String("who", rec.identity.name), slog.String("role", rec.identity.role.String()),
		slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", status),
		slog.Int("bytes", w.BytesWritten()), slog.Duration("took", took), slog.String("remote", r.RemoteAddr))
}

// statusOf returns the status that was sent. That of a connection which was
// taken over is not known to the writer.
func statusOf(w middleware.WrapResponseWriter, r *http.Request) int {
	switch status := w.Status(); {
	case status != 0:
		return status
	case isUpgrade(r):
		return http.StatusSwitchingProtocols
	default:
		return http.StatusOK
	}
}

// auditLevel keeps what is read all the time out of the way of what matters to
// security: who logs in and out, changes something, takes everything away, or is
// refused.
func auditLevel(r *http.Request, rec *record, status int) slog.Level {
	switch {
	case status >= http.StatusInternalServerError:
		return slog.LevelWarn
	case r.Method != http.MethodGet && r.Method != http.MethodHead, rec.pattern == "/login", rec.pattern == exportPath,
		status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusTooManyRequests, status == http.StatusMisdirectedRequest:
		return slog.LevelInfo
	}
	return slog.LevelDebug
}
