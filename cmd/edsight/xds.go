package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/edsight/edsight/core/ads"
	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/source/kube"
	"github.com/edsight/edsight/server"
)

// pingAfter is how long a stream may be silent before the client is asked
// whether it is still there.
const pingAfter = 30 * time.Second

// xdsFlags say where proxies are served.
type xdsFlags struct {
	plain, tls, cert, key, audience string
	debug                           bool
	quiet, mostWait                 time.Duration
}

func (f *xdsFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.plain, "xds", "", "address at which proxies are served in clear, for example 127.0.0.1:15010")
	flags.BoolVar(&f.debug, "xds-debug", false, "answer what istioctl asks at --xds, without a token")
	flags.StringVar(&f.tls, "xds-tls", "", "address at which proxies are served by TLS, with bearer tokens")
	flags.StringVar(&f.cert, "xds-tls-cert", "", "certificate chain of --xds-tls, PEM")
	flags.StringVar(&f.key, "xds-tls-key", "", "private key of --xds-tls, PEM")
	flags.DurationVar(&f.quiet, "xds-quiet", 0, "how long no change may come before changes are sent; 0 sends at once")
	flags.DurationVar(&f.mostWait, "xds-most-wait", 10*time.Second, "how long changes wait at most with --xds-quiet")
	flags.StringVar(&f.audience, "xds-audience", "istio-ca", "audience that tokens at --xds-tls must have")
}

// check refuses what would let other machines in without a token.
func (f *xdsFlags) check(insecure bool) error {
	if f.plain != "" {
		host, _, err := net.SplitHostPort(f.plain)
		switch {
		case err != nil:
			return fmt.Errorf("--xds: %w", err)
		case f.debug && !server.IsLoopback(host):
			return errors.New("--xds-debug: only where --xds is on this machine")
		case !server.IsLoopback(host) && !insecure:
			return fmt.Errorf("--xds %s: proxies are served in clear on this machine only; --insecure-bind overrules this", f.plain)
		}
	}
	if f.tls != "" && (f.cert == "" || f.key == "") {
		return errors.New("--xds-tls needs --xds-tls-cert and --xds-tls-key")
	}
	return nil
}

// xds serves proxies.
type xds struct {
	ads       *ads.Server
	listeners []*xdsListening
}

type xdsListening struct {
	server   *grpc.Server
	listener net.Listener
}

// newXDS returns what serves the core's proxies; web answers the debug handlers
// once it is there. It is nil if there is no address.
func newXDS(shown held, f *serveFlags, web func() *server.Server, log *slog.Logger) (*xds, error) {
	if f.xds.plain == "" && f.xds.tls == "" {
		return nil, nil
	}
	core, ok := shown.(*control.Controller)
	if !ok {
		return nil, errors.New("--xds, --xds-tls: proxies are not served from an exported snapshot")
	}
	debug := func(ctx context.Context, c ads.Caller, name string) ([]byte, error) {
		who := server.Caller{Name: c.Name, All: c.All}
		if c.Namespace != "" {
			who.Namespaces = []string{c.Namespace}
		}
		body, err := web().Debug(ctx, who, name)
		switch {
		case errors.Is(err, server.ErrNoHandler):
			err = status.Error(codes.NotFound, err.Error())
		case errors.Is(err, server.ErrNotAnswered):
			err = status.Error(codes.Internal, err.Error())
		}
		return body, err
	}
	name, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("name of this machine: %w", err)
	}
	return &xds{ads: ads.New(core, ads.Options{
		Logger: log, Debug: debug, Name: name, Version: programVersion(), Quiet: f.xds.quiet, MostWait: f.xds.mostWait,
	})}, f.xds.check(f.insecure)
}

// listen opens the listeners.
func (x *xds) listen(ctx context.Context, f *serveFlags, log *slog.Logger) error {
	if f.xds.plain != "" {
		who := func(context.Context) (ads.Caller, error) { return ads.Caller{Name: "xds-debug", All: f.xds.debug}, nil }
		if err := x.open(ctx, "--xds", f.xds.plain, who); err != nil {
			return err
		}
	}
	if f.xds.tls == "" {
		return nil
	}
	cert, err := loadKeyPair(f.xds.cert, f.xds.key, log)
	if err != nil {
		return fmt.Errorf("--xds-tls: %w", err)
	}
	cfg, err := f.source.kube.Load()
	if err != nil {
		return fmt.Errorf("--xds-tls: tokens need a cluster: %w", err)
	}
	reviewer, err := kube.NewReviewer(cfg, f.xds.audience)
	if err != nil {
		return err
	}
	return x.open(ctx, "--xds-tls", f.xds.tls, byToken(reviewer, f.source.mesh.rootNamespace), grpc.Creds(credentials.NewTLS(cert.config())))
}

func (x *xds) open(ctx context.Context, flag, addr string, who ads.Authenticator, opts ...grpc.ServerOption) error {
	l, err := listenTCP(ctx, flag, addr)
	if err != nil {
		return err
	}
	opts = append(opts, ads.ServerOptions()...)
	opts = append(opts, grpc.KeepaliveParams(keepalive.ServerParameters{Time: pingAfter}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingAfter / 3, PermitWithoutStream: true}))
	one := &xdsListening{listener: l, server: grpc.NewServer(opts...)}
	x.ads.Register(one.server, who)
	x.listeners = append(x.listeners, one)
	return nil
}

// byToken finds callers out by their bearer tokens. Service accounts of the root
// namespace may look at everything.
func byToken(r *kube.Reviewer, rootNamespace string) ads.Authenticator {
	return func(ctx context.Context) (ads.Caller, error) {
		md, _ := metadata.FromIncomingContext(ctx)
		for _, auth := range md.Get("authorization") {
			scheme, token, _ := strings.Cut(auth, " ")
			if !strings.EqualFold(scheme, "bearer") {
				continue // not a token
			}
			u, err := r.Review(ctx, token)
			if err != nil {
				return ads.Caller{}, err
			}
			return ads.Caller{Name: u.Name, Namespace: u.Namespace, All: u.Admin || u.Namespace == rootNamespace, Proved: true}, nil
		}
		return ads.Caller{}, errors.New("a bearer token is needed")
	}
}

// run serves until ctx is done.
func (x *xds) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return x.ads.Run(ctx) })
	for _, l := range x.listeners {
		group.Go(func() error { return l.serve(ctx) })
	}
	return group.Wait()
}

func (l *xdsListening) serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, l.server.Stop)
	defer stop()
	if err := l.server.Serve(l.listener); err != nil {
		return fmt.Errorf("serve %s: %w", l.listener.Addr(), err)
	}
	return nil
}
