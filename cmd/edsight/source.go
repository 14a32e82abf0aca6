package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/demo"
	"github.com/edsight/edsight/core/source/files"
	"github.com/edsight/edsight/core/source/kube"
)

// sourceFlags say where the objects come from.
type sourceFlags struct {
	demo      bool
	demoSpeed float64
	demoSeed  int64
	from      string
	kube      kube.ConfigFlags
	clusterID string
	mesh      meshFlags
}

func (f *sourceFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.demo, "demo", false, "show the embedded demo mesh, which moves by itself")
	flags.Float64Var(&f.demoSpeed, "demo-speed", 1, "how fast the demo mesh moves")
	flags.Int64Var(&f.demoSeed, "demo-seed", 1, "what the demo mesh's chances start from")
	flags.StringVar(&f.from, "from", "", "read manifests from this file or folder, and watch it; or show an exported snapshot")
	flags.StringVar(&f.kube.Path, "kubeconfig", "", "watch the cluster of this kubeconfig")
	flags.StringVar(&f.kube.Context, "context", "", "watch the cluster of this context of the kubeconfig")
	flags.StringVar(&f.clusterID, "cluster-id", "Kubernetes", "name of the watched cluster in the mesh")
	f.mesh.add(flags)
}

var errNoSource = errors.New(`there is nothing to watch; choose one of
  --demo                  the embedded demo mesh
  --from PATH             a file or folder of manifests, or an exported snapshot
  --kubeconfig, --context a cluster, also by $KUBECONFIG, ~/.kube/config, or from within a Pod`)

// open returns the source that the flags name.
func (f *sourceFlags) open(log *slog.Logger) (source.Source, error) {
	if f.demo {
		return demo.New(demo.Options{Speed: f.demoSpeed, Seed: f.demoSeed, Logger: log})
	}
	if f.from == "" {
		return f.cluster(log)
	}
	if _, err := os.Stat(f.from); err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	return files.New(f.from, files.Options{Logger: log}), nil
}

func (f *sourceFlags) cluster(log *slog.Logger) (source.Source, error) {
	cfg, err := f.kube.Load()
	if clientcmd.IsEmptyConfig(errors.Unwrap(err)) {
		return nil, errNoSource
	}
	if err != nil {
		return nil, err
	}
	return kube.NewMesh(cfg, kube.Options{ID: model.ClusterID(f.clusterID), RootNamespace: f.mesh.rootNamespace, Logger: log})
}

// problemLine is a problem of an input as a line for a terminal.
func problemLine(p source.Problem) string {
	parts := make([]string, 0, 4)
	for _, s := range []string{p.Where, objectName(p), p.Field, p.Message} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ": ")
}

func objectName(p source.Problem) string {
	if p.Object.Name == "" {
		return ""
	}
	return p.Object.String()
}
