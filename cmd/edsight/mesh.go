package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/pflag"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/files"
)

// meshFlags say what is known of the mesh's istiod.
type meshFlags struct {
	flags         *pflag.FlagSet // among which they are
	rootNamespace string
	istiodEnv     []string
}

func (f *meshFlags) add(flags *pflag.FlagSet) {
	f.flags = flags
	flags.StringVar(&f.rootNamespace, "root-namespace", "istio-system", "namespace with the mesh's configuration")
	flags.StringArrayVar(&f.istiodEnv, "istiod-env", nil,
		"NAME=VALUE as istiod's environment has it, for example ENABLE_MCS_HOST=true; may be repeated")
}

// given tells whether any of them is.
func (f *meshFlags) given() bool {
	return f.flags.Changed("root-namespace") || f.flags.Changed("istiod-env")
}

// errMeshOfArchive refuses what would change nothing.
var errMeshOfArchive = errors.New("--root-namespace and --istiod-env are for manifests; an exported snapshot is shown as it was")

// features are those that istiod's environment turns on. Variables that are not
// read here are logged.
func (f *meshFlags) features(log *slog.Logger) (registry.Features, error) {
	env := map[string]string{}
	for _, e := range f.istiodEnv {
		name, value, ok := strings.Cut(e, "=")
		if !ok || name == "" {
			return registry.Features{}, fmt.Errorf("--istiod-env: %q is not NAME=VALUE", e)
		}
		env[name] = value
	}
	features, others, err := registry.ParseFeatures(env)
	if err != nil {
		return features, fmt.Errorf("--istiod-env: %w", err)
	}
	for _, name := range others {
		log.Warn("a variable of --istiod-env is not read here", "name", name)
	}
	return features, nil
}

// settled is the core over manifests when their first state is there, and stands still
// then. Manifests without any object that can be read are an error.
func (f *meshFlags) settled(ctx context.Context, from string, log io.Writer) (*control.Controller, source.Source, error) {
	logger := slog.New(slog.NewTextHandler(log, nil))
	features, err := f.features(logger)
	if err != nil {
		return nil, nil, err
	}
	src := files.New(from, files.Options{Logger: logger})
	core := control.New(control.Options{Source: src, RootNamespace: f.rootNamespace, Features: features})
	return core, src, settle(ctx, core, src)
}

// settle runs the core until its first state is there. Manifests without any
// object that can be read are an error.
func settle(ctx context.Context, core *control.Controller, manifests source.Source) error {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := core.Run(ctx); err != nil {
			cancel(err)
		}
	}()
	err := core.Journal().Wait(ctx, 1)
	if err != nil {
		err = context.Cause(ctx)
	}
	cancel(nil)
	<-done
	if err != nil {
		return err
	}
	for range manifests.All() {
		return nil
	}
	status := manifests.Status()
	if len(status.Problems) > 0 {
		return fmt.Errorf("%s: there is no object that can be read: %s", status.Name, problemLine(status.Problems[0]))
	}
	return fmt.Errorf("%s: there is no object", status.Name)
}
