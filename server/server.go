package server

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"github.com/edsight/edsight/core/debugz"
	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/static"
)

// Options of a Server. The zero value is safe: nobody gets in but by a login link.
type Options struct {
	// Logger gets one line per request; nil discards them.
	Logger *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Token is what programs present as a bearer token; "" admits none.
	Token string
	// Hosts are names under which the server may be called, beside localhost and
	// the loopback addresses.
	Hosts []string
	// OpenDebug serves the JSON below /debug to callers without identity.
	OpenDebug bool
	// Banner is shown on every page, "" for none: what is insecure about this
	// server.
	Banner string
	// Exported is when the state was exported that is shown, zero for one that
	// changes. Pages speak of that moment.
	Exported time.Time
	// Objects are what the snapshots were made of, as evidence for explanations; nil
	// leaves them without.
	Objects explain.Objects
	// Version of Edsight.
	Version string
	// Proxies are those that are connected; nil if none can be.
	Proxies Proxies
	// Istiod asks the mesh's istiod what it sends to a proxy; nil if none is named.
	Istiod AskIstiod
	// Collectors add their metrics to those of the server.
	Collectors []prometheus.Collector
}

// Server answers requests.
type Server struct {
	core    Core
	proxies Proxies
	opts    Options
	log     *slog.Logger
	now     func() time.Time
	hosts   []string

	sessions  *sessions
	links     links
	attempts  *rate.Limiter
	live      *live
	metrics   *metrics
	pages     *pages
	large     seats
	asking    chan struct{} // a token per question to istiod under way
	shelf     shelf
	cores     cores
	texts     debugz.Texts
	counting  counting
	found     found
	scopes    scope.Cache
	explainer *explain.Explainer
	assets    string // path of the static files
	started   time.Time
}

// New returns a server of the core.
func New(core Core, o Options) *Server {
	s := &Server{core: core, proxies: o.Proxies, opts: o, log: o.Logger, now: o.Now, attempts: newAttempts(), cores: newCores(), asking: make(chan struct{}, maxAsking)}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.proxies == nil {
		s.proxies = nobody{}
	}
	for _, h := range o.Hosts {
		s.hosts = append(s.hosts, strings.ToLower(hostOnly(h)))
	}
	s.started = s.now()
	s.assets = "/static/" + static.Version()
	s.sessions = newSessions(s.now)
	s.live = newLive(s)
	s.pages = newPages(&s.scopes)
	s.explainer = explain.New(explain.Options{Objects: o.Objects, Journal: core.Journal(), Scopes: &s.scopes, Sessions: s.proxies.Sessions})
	s.metrics = newMetrics(s)
	return s
}

// Run makes ready what the first answers would wait for, until ctx is done.
func (s *Server) Run(ctx context.Context) {
	if s.core.Journal().Wait(ctx, 1) != nil {
		return
	}
	aside(func() {
		s.wrongCounts(s.core.Snapshot())
		s.explainer.Run(ctx)
	})
}

// present is the moment that pages speak of.
func (s *Server) present() time.Time {
	if s.opts.Exported.IsZero() {
		return s.now()
	}
	return s.opts.Exported
}

// Handler returns the handler of all routes.
func (s *Server) Handler() http.Handler {
	return s.audit(s.protect(s.router(s.routes())))
}

// HTTP returns a server of the Handler with time limits set; the caller listens.
func (s *Server) HTTP() *http.Server {
	return &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      2 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
}

// HealthHandler returns a handler of /healthz and /readyz alone, for a listener
// which probes can reach from outside.
func (s *Server) HealthHandler() http.Handler {
	return s.router(s.healthRoutes())
}
