package main

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/pflag"

	"github.com/edsight/edsight/core/registry"
)

// meshFlags say what is known of the mesh's istiod.
type meshFlags struct {
	rootNamespace string
	istiodEnv     []string
}

func (f *meshFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.rootNamespace, "root-namespace", "istio-system", "namespace with the mesh's configuration")
	flags.StringArrayVar(&f.istiodEnv, "istiod-env", nil,
		"NAME=VALUE as istiod's environment has it, for example ENABLE_MCS_HOST=true; may be repeated")
}

// features are those that istiod's environment turns on. Variables without a meaning
// here are logged.
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
		log.Warn("a variable of --istiod-env changes no endpoints here, or is misspelt; it is passed over", "name", name)
	}
	return features, nil
}
