package ads

import (
	"context"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/edsight/edsight/core/session"
)

var (
	errStuck    = status.Error(codes.DeadlineExceeded, "the client does not read")
	errForced   = status.Error(codes.Unavailable, "disconnected by request")
	errSilent   = status.Error(codes.DeadlineExceeded, "no request came")
	errMany     = status.Error(codes.ResourceExhausted, "too many streams of one proxy")
	errShutdown = status.Error(codes.Unavailable, "Edsight is shutting down")
)

// Register adds the services of xDS to a gRPC server made with ServerOptions.
// who finds out who calls; nil takes everybody for nobody in particular.
func (s *Server) Register(g *grpc.Server, who Authenticator) {
	if who == nil {
		who = func(context.Context) (Caller, error) { return Caller{}, nil }
	}
	for _, d := range []struct{ service, name, typeURL string }{
		{"discovery.v3.Aggregated", "AggregatedResources", ""},
		{"cluster.v3.Cluster", "Clusters", typeCluster},
		{"endpoint.v3.Endpoint", "Endpoints", typeEndpoint},
		{"listener.v3.Listener", "Listeners", typeListener},
		{"route.v3.Route", "Routes", typeRoute},
	} {
		g.RegisterService(&grpc.ServiceDesc{ServiceName: "envoy.service." + d.service + "DiscoveryService", Streams: []grpc.StreamDesc{
			{StreamName: "Stream" + d.name, ServerStreams: true, ClientStreams: true, Handler: s.handler(who, false, d.typeURL)},
			{StreamName: "Delta" + d.name, ServerStreams: true, ClientStreams: true, Handler: s.handler(who, true, d.typeURL)},
		}}, nil)
	}
}

// handler serves one method; typeURL is the only type of a service, "" for all.
func (s *Server) handler(who Authenticator, delta bool, typeURL string) grpc.StreamHandler {
	return func(_ any, g grpc.ServerStream) error {
		s.running.Add(1)
		defer s.running.Done()
		c, err := who(g.Context())
		if err != nil {
			return status.Error(codes.Unauthenticated, err.Error())
		}
		return s.serve(&reader{stream: g, delta: delta, only: typeURL, hashes: map[string]uint64{}}, c)
	}
}

// serve takes a stream from its first request to its end.
func (s *Server) serve(r *reader, who Caller) error {
	g, delta := r.stream, r.delta
	ctx, end := context.WithCancelCause(g.Context())
	defer end(nil)
	select {
	case <-s.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	first, err := s.opening(ctx, r)
	if err != nil {
		return ended(err)
	}
	if isDebug(first.typeURL) {
		return s.serveDebug(ctx, r, who, first)
	}
	n, err := parseNode(first.node)
	if err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	if ns := n.pinned.Pod.Namespace; who.Proved && who.Namespace != ns {
		return status.Errorf(codes.PermissionDenied, "%s is no proxy of namespace %s", who.Name, ns)
	}
	c := &connection{end: end, asked: make(chan chan map[string][]string), record: newRecord(session.Session{
		Proxy: n.pinned.Proxy.ID, ConnectedAt: s.now(), Delta: delta, Address: address(g.Context()), Node: n.told,
	})}
	st := &stream{
		server: s, record: c.record, node: n, delta: delta, single: r.only != "", kick: make(chan struct{}, 1), asked: c.asked,
		write: func(m mem.BufferSlice) error { return g.SendMsg(m) },
	}
	if err := s.admit(ctx, st); err != nil {
		return err
	}
	defer s.release(st)
	s.enroll(c)
	defer s.dismiss(c)
	s.log.Debug("stream opened", "stream", c.record.id)
	defer s.log.Debug("stream ended", "stream", c.record.id)
	return s.pump(ctx, st, r, first)
}

// opening waits for the first request, but not for long: a stream costs memory.
func (s *Server) opening(ctx context.Context, r *reader) (*request, error) {
	var first *request
	err := s.within(ctx, errSilent, func() (err error) {
		first, err = r.next()
		return err
	})
	if err != nil {
		return nil, err
	}
	return first, nil
}

// within waits for f as long as a client may take, and returns late if it takes longer:
// f ends with the stream.
func (s *Server) within(ctx context.Context, late error, f func() error) error {
	done := make(chan error, 1)
	s.running.Go(func() { done <- f() })
	limit := time.NewTimer(s.sendTimeout)
	defer limit.Stop()
	select {
	case err := <-done:
		return err
	case <-limit.C:
		return late
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// admit makes the proxy known to the core, and waits until it is.
func (s *Server) admit(ctx context.Context, st *stream) error {
	known, err := s.connect(st)
	if err != nil {
		return err
	}
	select {
	case <-known:
	case <-ctx.Done():
		s.release(st)
		return context.Cause(ctx)
	}
	st.proxy = st.node.pinned.Proxy
	st.recognise()
	return nil
}

// connect and release keep the core's list of connected proxies that of the hub.

func (s *Server) connect(st *stream) (<-chan struct{}, error) {
	s.admission.Lock()
	defer s.admission.Unlock()
	if !s.hub.add(st) {
		return nil, errMany
	}
	return s.core.Connect(st.node.pinned), nil
}

func (s *Server) release(st *stream) {
	s.admission.Lock()
	defer s.admission.Unlock()
	if s.hub.remove(st) {
		s.core.Disconnect(st.node.pinned.Pod)
	}
	for _, d := range s.hub.alone(st) {
		d.delivery.Left(s.now(), false)
	}
}

// pump runs the stream beside a reader of its requests. It returns when either
// ends, or when the stream is ended from outside; a write that hangs is freed by
// that.
func (s *Server) pump(ctx context.Context, st *stream, r *reader, first *request) error {
	ctx, stop := context.WithCancel(ctx)
	requests := make(chan *request, 1)
	requests <- first
	ended := make(chan error, 2)
	s.running.Go(func() {
		defer stop()
		ended <- r.run(ctx, requests)
	})
	s.running.Go(func() {
		defer stop()
		if err := st.run(ctx, requests); !errors.Is(err, context.Canceled) {
			ended <- err
		}
	})
	<-ctx.Done()
	select {
	case err := <-ended:
		return err
	default:
	}
	return context.Cause(ctx)
}

// ended makes no error of a client that closes its stream.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func address(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok {
		return p.Addr.String()
	}
	return ""
}

// reader reads the requests of a stream.
type reader struct {
	stream grpc.ServerStream
	delta  bool
	only   string // the type of the service, "" for all
	hashes map[string]uint64
}

func (r *reader) next() (*request, error) {
	var buf mem.Buffer
	if err := r.stream.RecvMsg(&buf); err != nil {
		return nil, err
	}
	defer buf.Free()
	var req *request
	var err error
	if r.delta {
		req, err = decodeDelta(buf.ReadOnlyData())
	} else {
		req, err = decodeSotW(buf.ReadOnlyData(), func(typeURL string) (uint64, bool) {
			h, ok := r.hashes[typeURL]
			return h, ok
		})
	}
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	if r.only != "" {
		if req.typeURL != "" && req.typeURL != r.only {
			return nil, status.Errorf(codes.InvalidArgument, "this service has %s only", r.only)
		}
		req.typeURL = r.only
	}
	if req.typeURL == "" {
		return nil, status.Error(codes.InvalidArgument, "the request has no type")
	}
	if !r.delta {
		r.hashes[req.typeURL] = req.hash
	}
	return req, nil
}

// run passes requests on until the client has no more.
func (r *reader) run(ctx context.Context, to chan<- *request) error {
	for {
		req, err := r.next()
		if err != nil {
			return ended(err)
		}
		select {
		case to <- req:
		case <-ctx.Done():
			return nil
		}
	}
}
