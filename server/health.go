package server

import (
	"io"
	"net/http"
)

func (s *Server) healthRoutes() []route {
	return []route{
		{method: http.MethodGet, pattern: "/healthz", help: "whether the process answers", access: accessPublic, instant: true, handle: s.handleHealth},
		{method: http.MethodGet, pattern: "/readyz", help: "whether a complete state is there", access: accessPublic, instant: true, handle: s.handleReady},
	}
}

func (s *Server) handleHealth(w http.ResponseWriter, _ *http.Request) error {
	return writeText(w, "ok\n")
}

func (s *Server) handleReady(w http.ResponseWriter, _ *http.Request) error {
	if !s.core.Status().Ready {
		return errorf(http.StatusServiceUnavailable, "the first complete state is not there yet")
	}
	return writeText(w, "ready\n")
}

func writeText(w http.ResponseWriter, text string) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, err := io.WriteString(w, text)
	return err
}
