package ads

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/session"
	"github.com/edsight/edsight/core/state"
)

// Core is what is served, and to whom connected proxies are made known.
type Core interface {
	Snapshot() *state.Snapshot
	Journal() *journal.Journal
	Connect(p registry.Pinned) <-chan struct{}
	Disconnect(pod model.ObjectKey)
	Push()
}

// Options of a Server. The zero value is usable.
type Options struct {
	// Logger; nil discards.
	Logger *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// SendTimeout ends streams whose client does not read for so long; 0 means a
	// minute.
	SendTimeout time.Duration
	// Quiet is how long no change may come before changes are sent, MostWait how long
	// they wait at most. Zero sends at once; what comes meanwhile is merged.
	Quiet, MostWait time.Duration
	// Name and Version of this server are what istioctl shows of it.
	Name, Version string
	// Debug answers what istioctl asks of the type istio.io/debug; nil refuses.
	Debug Debug
}

// Server serves streams.
type Server struct {
	core        Core
	log         *slog.Logger
	now         func() time.Time
	sendTimeout time.Duration
	debug       Debug
	identity    mem.Buffer // of this server, in answers to istioctl
	quiet       time.Duration
	mostWait    time.Duration
	hub         hub
	metrics     *metrics

	ready   chan struct{} // closed when there is a first state
	running sync.WaitGroup

	// admission orders what the hub and the core are told of streams.
	admission sync.Mutex

	mu     sync.Mutex // protects all below
	open   map[string]*connection
	serial uint64
}

// connection is a stream, and how it is ended.
type connection struct {
	record *record
	end    context.CancelCauseFunc
	asked  chan chan map[string][]string
}

// New returns a Server of the core. Nothing is served before Run.
func New(core Core, o Options) *Server {
	s := &Server{
		core: core, log: o.Logger, now: o.Now, sendTimeout: cmp.Or(o.SendTimeout, time.Minute),
		debug: o.Debug, identity: identity(o.Name, o.Version), quiet: o.Quiet, mostWait: max(o.MostWait, o.Quiet),
		ready: make(chan struct{}), metrics: newMetrics(), open: map[string]*connection{},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.hub.log, s.hub.now, s.hub.errors = s.log, s.now, s.metrics.errors
	return s
}

// ServerOptions are those that a gRPC server needs for Register.
func ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ForceServerCodecV2(codec{}), grpc.MaxRecvMsgSize(maxRequest),
		// Most streams are idle, and their requests small.
		grpc.ReadBufferSize(readBuffer),
		// Windows that gRPC adapts cost a ping, and its answer, for each acknowledgement.
		grpc.StaticStreamWindowSize(window), grpc.StaticConnWindowSize(window),
	}
}

// window is how much of a request may be under way.
const window = 1 << 20

const readBuffer = 8 << 10

// maxRequest bounds a request: all names of a large mesh, and some more.
const maxRequest = 32 << 20

// answerTimeout is how long a stream may take to say what it asks for.
const answerTimeout = 100 * time.Millisecond

// Run tells the streams of the transitions of the core until ctx is done, and then
// ends them.
func (s *Server) Run(ctx context.Context) error {
	defer s.endAll()
	go s.watchStuck(ctx)
	for next := uint64(1); ; {
		if s.core.Journal().Wait(ctx, next) != nil || ctx.Err() != nil {
			return nil // the end
		}
		s.gather(ctx)
		b := s.core.Journal().Since(next, math.MaxInt)
		if r := s.publish(b); r != nil {
			r.wait(ctx)
		}
		next = b.Next
	}
}

// gather waits until the journal is quiet, if that is wanted. What causes no message
// does not disturb it.
func (s *Server) gather(ctx context.Context) {
	if s.quiet <= 0 {
		return
	}
	begin := s.now()
	defer func() { s.metrics.debounce.Observe(s.now().Sub(begin).Seconds()) }()
	ctx, cancel := context.WithTimeout(ctx, s.mostWait)
	defer cancel()
	for next := s.core.Journal().Last() + 1; next > 0 && ctx.Err() == nil; {
		quiet, cancel := context.WithTimeout(ctx, s.quiet)
		next = s.disturbed(quiet, next)
		cancel()
	}
}

// disturbed waits for a transition that causes messages, and returns where to go on; 0
// if none comes.
func (s *Server) disturbed(ctx context.Context, next uint64) uint64 {
	for s.core.Journal().Wait(ctx, next) == nil {
		b := s.core.Journal().Since(next, math.MaxInt)
		next = b.Next
		if slices.ContainsFunc(b.Transitions, func(t *journal.Transition) bool {
			return t.Push.Scope.Type != state.PushNone || len(t.Push.Proxies) > 0
		}) {
			return next
		}
	}
	return 0
}

// publish tells the streams of transitions, and returns the round that this begins; nil
// if there is none.
func (s *Server) publish(b journal.Batch) *round {
	if len(b.Transitions) == 0 {
		return nil
	}
	deliveries := make([]*journal.Delivery, len(b.Transitions))
	for i, t := range b.Transitions {
		deliveries[i] = s.core.Journal().Delivery(t.Seq)
		s.metrics.triggered(t.Push.Triggers)
	}
	r := s.hub.publish(b, deliveries)
	select {
	case <-s.ready:
	default:
		close(s.ready)
	}
	return r
}

// watchStuck ends streams whose clients do not read.
func (s *Server) watchStuck(ctx context.Context) {
	tick := time.NewTicker(s.sendTimeout / 4)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		now := s.now()
		s.each(func(c *connection) {
			if c.record.stuck(now, s.sendTimeout) {
				s.metrics.timeouts.Inc()
				c.end(errStuck)
			}
		})
	}
}

// Sessions returns all streams in the order of their IDs.
func (s *Server) Sessions() []session.Session {
	var out []session.Session
	s.each(func(c *connection) { out = append(out, c.record.read()) })
	slices.SortFunc(out, func(a, b session.Session) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// Disconnect ends the streams of a proxy or the one of that ID, and tells how many
// these were.
func (s *Server) Disconnect(id string) int {
	n := 0
	s.each(func(c *connection) {
		if c.record.id == id || c.record.proxy == id {
			n++
			c.end(errForced)
		}
	})
	return n
}

// Names lists by type what the session of that ID asks for by name; nil if there is
// none, or if it does not answer because its client does not read.
func (s *Server) Names(id string) map[string][]string {
	s.mu.Lock()
	c := s.open[id]
	s.mu.Unlock()
	if c == nil {
		return nil
	}
	limit := time.NewTimer(answerTimeout)
	defer limit.Stop()
	to := make(chan map[string][]string, 1)
	select {
	case c.asked <- to:
		return <-to
	case <-limit.C:
		return nil
	}
}

// Push sends all proxies all that they ask for once more.
func (s *Server) Push() { s.core.Push() }

func (s *Server) each(f func(*connection)) {
	s.mu.Lock()
	all := make([]*connection, 0, len(s.open))
	for _, c := range s.open {
		all = append(all, c)
	}
	s.mu.Unlock()
	for _, c := range all {
		f(c)
	}
}

func (s *Server) endAll() { s.each(func(c *connection) { c.end(errShutdown) }) }

// enroll gives a stream its ID.
func (s *Server) enroll(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serial++
	c.record.id = c.record.proxy + "-" + strconv.FormatUint(s.serial, 10)
	c.record.status.ID = c.record.id
	s.open[c.record.id] = c
}

func (s *Server) dismiss(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c.record.id)
}
