package kube

import (
	"fmt"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// ConfigFlags say which cluster to connect to, as for kubectl. The zero value
// means ~/.kube/config or, within a Pod, the cluster that runs it.
type ConfigFlags struct {
	// Path of a kubeconfig, which then is the only one.
	Path string
	// Env is the value of $KUBECONFIG: paths of files that are merged.
	Env string
	// Context is the name of a context; "" is the current one.
	Context string
}

// Load finds the connection.
func (f ConfigFlags) Load() (*rest.Config, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: f.Path, Precedence: []string{clientcmd.RecommendedHomeFile}}
	if f.Env != "" {
		rules.Precedence = filepath.SplitList(f.Env)
	}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: f.Context}
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	return cfg, nil
}
