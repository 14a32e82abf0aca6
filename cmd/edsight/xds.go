package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"github.com/edsight/edsight/core/ads"
	"github.com/edsight/edsight/core/control"
)

// pingAfter is how long a stream may be silent before the client is asked whether
// it is still there.
const pingAfter = 30 * time.Second

// xds serves proxies.
type xds struct {
	ads   *ads.Server
	plain *xdsListening
}

type xdsListening struct {
	server   *grpc.Server
	listener net.Listener
}

// listenXDS opens the listener for proxies; nil without an address.
func listenXDS(ctx context.Context, core *control.Controller, f *serveFlags, log *slog.Logger) (*xds, error) {
	if f.xds == "" {
		return nil, nil
	}
	if host, _, err := net.SplitHostPort(f.xds); err != nil || (!loopback(host) && !f.insecure) {
		return nil, fmt.Errorf("--xds %s: proxies are served in clear on this machine only; --insecure-bind overrules this", f.xds)
	}
	l, err := listenTCP(ctx, "--xds", f.xds)
	if err != nil {
		return nil, err
	}
	x := &xds{ads: ads.New(core, ads.Options{Logger: log})}
	x.plain = &xdsListening{listener: l, server: grpc.NewServer(append(ads.ServerOptions(),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: pingAfter}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingAfter / 3, PermitWithoutStream: true}),
	)...)}
	x.ads.Register(x.plain.server)
	return x, nil
}

// run serves until ctx is done.
func (x *xds) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return x.ads.Run(ctx) })
	group.Go(func() error { return x.plain.serve(ctx) })
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
