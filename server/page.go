package server

import (
	"net/http"

	"github.com/a-h/templ"

	"github.com/edsight/edsight/core/journal"
)

// pageRoutes are the pages and the static files.
func (s *Server) pageRoutes() []route { return nil }

// liveFrame is the row of the feed which shows the transition.
func (s *Server) liveFrame(_ *journal.Transition) ([]byte, error) { return nil, nil }

// gapFrame is the row of the feed which says that transitions are missing.
func (s *Server) gapFrame(_ *journal.Gap) ([]byte, error) { return nil, nil }

// errorPage says what went wrong and what to do next.
func (s *Server) errorPage(_ *http.Request, e *httpError) templ.Component {
	return templ.Raw(templ.EscapeString(e.Message))
}

// loginPage says how to log in; it has the form that posts "token" to /login.
// The message is the error of the last attempt, or "".
func (s *Server) loginPage(_ *http.Request, message string) templ.Component {
	return templ.Raw(templ.EscapeString(message))
}
