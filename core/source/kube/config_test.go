package kube_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/edsight/edsight/core/source/kube"
)

// kubeconfig writes a file with the contexts "a" and "b" and a current one.
func kubeconfig(t *testing.T, current string, names ...string) string {
	t.Helper()
	text := "apiVersion: v1\nkind: Config\ncurrent-context: " + current + "\n"
	clusters, contexts := "clusters:\n", "contexts:\n"
	for _, n := range names {
		clusters += fmt.Sprintf("- {name: %s, cluster: {server: 'https://%s.example.com'}}\n", n, n)
		contexts += fmt.Sprintf("- {name: %s, context: {cluster: %s}}\n", n, n)
	}
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(text+clusters+contexts), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConfigIsFoundAsKubectlFindsIt(t *testing.T) {
	t.Parallel()
	one, two := kubeconfig(t, "a", "a", "b"), kubeconfig(t, "c", "c")
	merged := two + string(filepath.ListSeparator) + one
	cases := []struct {
		name  string
		flags kube.ConfigFlags
		host  string // "" is an error
	}{
		{"path", kube.ConfigFlags{Path: one}, "https://a.example.com"},
		{"path before env", kube.ConfigFlags{Path: one, Env: two}, "https://a.example.com"},
		{"context", kube.ConfigFlags{Path: one, Context: "b"}, "https://b.example.com"},
		{"env: first file's current context", kube.ConfigFlags{Env: merged}, "https://c.example.com"},
		{"env: context of the second file", kube.ConfigFlags{Env: merged, Context: "b"}, "https://b.example.com"},
		{"no such context", kube.ConfigFlags{Path: one, Context: "z"}, ""},
		{"no such file", kube.ConfigFlags{Path: filepath.Join(t.TempDir(), "none")}, ""},
	}
	for _, c := range cases {
		cfg, err := c.flags.Load()
		switch {
		case c.host == "" && err == nil:
			t.Errorf("%s: no error, but %s", c.name, cfg.Host)
		case c.host != "" && (err != nil || cfg.Host != c.host):
			t.Errorf("%s: %v, %v", c.name, cfg, err)
		}
	}
}
