package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/edsight/edsight/server"
)

// grace is how long requests under way may take after a signal.
const grace = 5 * time.Second

// held is what a server shows.
type held interface {
	server.Core
	// Run keeps it up to date until ctx is done.
	Run(ctx context.Context) error
}

// service is the running program: the core, and its listeners.
type service struct {
	core   held
	app    *server.Server
	web    *listening
	health *listening
	xds    *xds // nil if proxies are not served
	// link prints a login link.
	link func() error
	// ready is called when the first state is published.
	ready func()
}

// listening is an HTTP server and what it listens on.
type listening struct {
	server   *http.Server
	listener net.Listener
	cert     *keyPair // nil without TLS
}

// listen opens the listeners, so that a port in use is an error at once.
func (s *service) listen(ctx context.Context, addr, health string) error {
	var err error
	if s.web, err = listen(ctx, "--http", addr, s.app.HTTP()); err != nil {
		return err
	}
	if health == "" {
		return nil
	}
	probes := &http.Server{Handler: s.app.HealthHandler(), ReadTimeout: grace, WriteTimeout: grace}
	if s.health, err = listen(ctx, "--health", health, probes); err != nil {
		return errors.Join(err, s.web.listener.Close())
	}
	return nil
}

func listen(ctx context.Context, flag, addr string, srv *http.Server) (*listening, error) {
	l, err := listenTCP(ctx, flag, addr)
	if err != nil {
		return nil, err
	}
	return &listening{server: srv, listener: l}, nil
}

func listenTCP(ctx context.Context, flag, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is in use by another program; choose another address with %s", addr, flag)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return l, nil
}

// url is the dashboard's, as a browser on this machine can call it.
func (s *service) url() string {
	scheme := "http"
	if s.web.cert != nil {
		scheme = "https"
	}
	host, port, err := net.SplitHostPort(s.web.listener.Addr().String())
	if err != nil {
		return scheme + "://" + s.web.listener.Addr().String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// addresses are those of the listeners, for the log, and the number of the process.
func (s *service) addresses() []any {
	out := []any{slog.String("http", s.web.listener.Addr().String())}
	if s.health != nil {
		out = append(out, slog.String("health", s.health.listener.Addr().String()))
	}
	if s.xds != nil {
		for _, l := range s.xds.listeners {
			out = append(out, slog.String("xds", l.listener.Addr().String()))
		}
	}
	return append(out, slog.Int("pid", os.Getpid())) // which login wants
}

// run serves until ctx is done or a part fails, and ends in order: requests
// under way, then the core.
func (s *service) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(answerLogins(ctx, s.link))
	group.Go(func() error {
		if err := s.core.Run(ctx); err != nil {
			return err
		}
		if ctx.Err() == nil {
			return errors.New("the source ended")
		}
		return nil
	})
	group.Go(func() error {
		if s.core.Status().Ready || s.core.Journal().Wait(ctx, 1) == nil {
			s.ready()
		}
		return nil
	})
	group.Go(func() error {
		s.app.Run(ctx)
		return nil
	})
	group.Go(func() error { return s.web.serve(ctx) })
	if s.health != nil {
		group.Go(func() error { return s.health.serve(ctx) })
	}
	if s.xds != nil {
		group.Go(func() error { return s.xds.run(ctx) })
	}
	return group.Wait()
}

// serve serves until ctx is done; then live readers are sent away, and other
// requests have the time of grace.
func (l *listening) serve(ctx context.Context) error {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	l.server.BaseContext = func(net.Listener) context.Context { return base }
	l.server.RegisterOnShutdown(cancel)
	done := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		err := l.server.Shutdown(end)
		if errors.Is(err, context.DeadlineExceeded) {
			err = nil // clients that do not finish are no failure
		}
		done <- errors.Join(err, l.server.Close())
	})
	defer stop()
	serve := func() error { return l.server.Serve(l.listener) }
	if l.cert != nil {
		l.server.TLSConfig = l.cert.config()
		serve = func() error { return l.server.ServeTLS(l.listener, "", "") }
	}
	if err := serve(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", l.listener.Addr(), err)
	}
	return <-done
}
