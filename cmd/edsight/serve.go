package main

import (
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/server"
)

// gcPercent is how much garbage may gather: most of the heap is the state, which
// stays, so that collecting more often costs little and saves much. While the first
// state is read the heap only grows, and each collection is in vain.
const (
	gcPercent        = 50
	gcPercentAtFirst = 300
)

// serveFlags are the flags of serve.
type serveFlags struct {
	source       sourceFlags
	http, health string
	xds          xdsFlags
	hosts        []string
	tokenFile    string
	openDebug    bool
	insecure     bool
	cert, key    string
	level        slog.Level
	journal      int
	istiod       string
	istiodToken  string
}

func (f *serveFlags) add(flags *pflag.FlagSet) {
	f.source.add(flags)
	flags.StringVar(&f.http, "http", "127.0.0.1:8080", "address of the dashboard")
	flags.StringVar(&f.health, "health", "", "further address with nothing but /healthz and /readyz, for probes")
	f.xds.add(flags)
	flags.StringSliceVar(&f.hosts, "allow-host", nil, "name under which the dashboard may be called, beside localhost; may be repeated")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with a bearer token for programs, readable by its owner only")
	flags.BoolVar(&f.openDebug, "open-debug", false, "serve the JSON below /debug without a token")
	flags.BoolVar(&f.insecure, "insecure-bind", false, "let --http be an address that other machines reach, without TLS or with --open-debug")
	flags.StringVar(&f.cert, "tls-cert", "", "certificate chain, PEM")
	flags.StringVar(&f.key, "tls-key", "", "private key, PEM")
	flags.TextVar(&f.level, "log-level", slog.LevelInfo, "debug, info, warn or error")
	flags.StringVar(&f.istiod, "istiod", "", "URL of istiod's debug handlers, for example http://127.0.0.1:15014, against which proxies can be compared")
	flags.StringVar(&f.istiodToken, "istiod-token-file", "", "file with the bearer token for --istiod, read again for each question")
	flags.IntVar(&f.journal, "journal-size", 2000, "transitions that are kept")
}

func serveCommand(env environment) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Watch a mesh and serve the dashboard",
		Long: `Watch a mesh and serve the dashboard.

Without a flag that says what to watch, the cluster is found as kubectl finds it.
A line on standard error gives the login URL, which works once; "edsight login PID"
has a running Edsight print a new one. The log names the PID.`,
		Example: `  edsight serve --demo
  edsight serve --from ./manifests
  edsight serve --from state.edsight.gz
  edsight serve --context staging --http 127.0.0.1:9090`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ownGC := env.getenv("GOGC") != ""
			if !ownGC {
				debug.SetGCPercent(gcPercentAtFirst)
			}
			f.source.kube.Env = env.getenv("KUBECONFIG")
			log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: f.level}))
			s, err := f.start(cmd, log)
			if err != nil {
				return err
			}
			s.ready = func() {
				if !ownGC {
					debug.SetGCPercent(gcPercent)
				}
			}
			return s.run(cmd.Context())
		},
	}
	f.add(cmd.Flags())
	cmd.MarkFlagsMutuallyExclusive("demo", "from", "kubeconfig")
	cmd.MarkFlagsMutuallyExclusive("demo", "from", "context")
	cmd.MarkFlagsMutuallyExclusive("demo", "from", "cluster-id")
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	return cmd
}

// start opens the source and the listeners, and says where to log in.
func (f *serveFlags) start(cmd *cobra.Command, log *slog.Logger) (*service, error) {
	if err := server.CheckBind(f.http, server.Bind{TLS: f.cert != "", OpenDebug: f.openDebug, Insecure: f.insecure}); err != nil {
		return nil, fmt.Errorf("%w; --insecure-bind overrules this", err)
	}
	opts := server.Options{
		Logger: log, Hosts: f.allowedHosts(), OpenDebug: f.openDebug, Banner: f.banner(), Version: programVersion(),
	}
	var err error
	if f.tokenFile != "" {
		if opts.Token, err = edsightToken(f.tokenFile); err != nil {
			return nil, err
		}
	}
	if opts.Istiod, err = istiod(f.istiod, f.istiodToken); err != nil {
		return nil, err
	}
	core, err := f.held(&opts, log)
	if err != nil {
		return nil, err
	}
	s := &service{core: core}
	if s.xds, err = newXDS(core, f, func() *server.Server { return s.app }, log); err != nil {
		return nil, err
	}
	if s.xds != nil {
		opts.Proxies, opts.Collectors = s.xds.ads, append(opts.Collectors, s.xds.ads)
	}
	s.app = server.New(core, opts)
	if s.xds != nil {
		if err := s.xds.listen(cmd.Context(), f, log); err != nil {
			return nil, err
		}
	}
	if err := s.listen(cmd.Context(), f.http, f.health); err != nil {
		return nil, err
	}
	if f.cert != "" {
		if s.web.cert, err = loadKeyPair(f.cert, f.key, log); err != nil {
			return nil, fmt.Errorf("--tls-cert: %w", err)
		}
	}
	log.Info("listening", s.addresses()...)
	s.link = func() error {
		_, err := fmt.Fprintf(cmd.ErrOrStderr(), "Edsight is at %s%s (the link works once)\n", s.url(), s.app.LoginPath())
		return err
	}
	return s, s.link()
}

// held is what is shown: the core over a source, or an archive.
func (f *serveFlags) held(opts *server.Options, log *slog.Logger) (held, error) {
	if !isArchive(f.source.from) {
		core, src, err := f.core(log)
		opts.Objects = src
		return core, err
	}
	if f.source.mesh.given() {
		return nil, errMeshOfArchive
	}
	c, err := openArchive(f.source.from)
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	core := newFrozen(c)
	opts.Banner, opts.Exported = strings.TrimSpace(opts.Banner+" "+core.notice()), c.Header.Created
	return core, nil
}

// core opens the source and makes the core over it.
func (f *serveFlags) core(log *slog.Logger) (*control.Controller, source.Source, error) {
	features, err := f.source.mesh.features(log)
	if err != nil {
		return nil, nil, err
	}
	src, err := f.source.open(log)
	if err != nil {
		return nil, nil, err
	}
	return control.New(control.Options{
		Source: src, JournalSize: f.journal, Logger: log,
		ConfigCluster: model.ClusterID(f.source.clusterID), RootNamespace: f.source.mesh.rootNamespace, Features: features,
		Lookup: net.DefaultResolver.LookupNetIP,
	}), src, nil
}

// allowedHosts adds the host of --http, if it names one.
func (f *serveFlags) allowedHosts() []string {
	host, _, err := net.SplitHostPort(f.http)
	if ip := net.ParseIP(host); err != nil || host == "" || (ip != nil && ip.IsUnspecified()) {
		return f.hosts
	}
	return append(f.hosts, host)
}

// banner says on every page what is insecure about this server.
func (f *serveFlags) banner() string {
	var parts []string
	if f.insecure {
		parts = append(parts, "other machines may reach this dashboard without encryption (--insecure-bind)")
	}
	if f.openDebug {
		parts = append(parts, "the JSON below /debug needs no token (--open-debug)")
	}
	if len(parts) == 0 {
		return ""
	}
	return "Insecure: " + strings.Join(parts, "; ") + "."
}
