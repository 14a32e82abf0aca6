package server

import (
	"log/slog"
	"net/http"
	"time"
)

// Options of a Server. The zero value is safe: nobody gets in but by a login link.
type Options struct {
	// Logger gets one line per request; nil discards them.
	Logger *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Token is what programs present as a bearer token; "" admits none.
	Token string
	// Hosts are names under which the server may be called, beside the names of
	// the loopback addresses.
	Hosts []string
	// OpenDebug serves the JSON below /debug to callers without identity.
	OpenDebug bool
	// Banner is shown on every page, "" for none: what is insecure about this
	// server.
	Banner string
	// Version of Edsight.
	Version string
}

// Server answers requests.
type Server struct {
	core Core
	opts Options
	log  *slog.Logger
	now  func() time.Time
}

// New returns a server of the core.
func New(core Core, o Options) *Server {
	s := &Server{core: core, opts: o, log: o.Logger, now: o.Now}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// Handler returns the handler of all routes.
func (s *Server) Handler() http.Handler { return s.router() }
