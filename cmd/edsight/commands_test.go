package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/archive"
	"github.com/edsight/edsight/core/model"
)

func TestVersion(t *testing.T) {
	out, _, err := call(t, "version")
	if err != nil || !strings.HasPrefix(out, "edsight ") || !strings.Contains(out, "go1.") {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out, _, err := call(t, "completion", shell); err != nil || !strings.Contains(out, "edsight") {
			t.Errorf("%s: %v", shell, err)
		}
	}
}

// checkShop tells whether the file is an archive of the manifests.
func checkShop(t *testing.T, b []byte) {
	t.Helper()
	c, err := archive.Read(bytes.NewReader(b), archive.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	s := c.Snapshot.Service(model.ServiceKey{Hostname: "web.shop.svc.cluster.local", Namespace: "shop"})
	if s.EndpointCount() != 1 || len(c.Transitions) != 1 {
		t.Errorf("%d endpoints and %d transitions, want 1 of each", s.EndpointCount(), len(c.Transitions))
	}
}

func TestSnapshotFromManifests(t *testing.T) {
	out := filepath.Join(t.TempDir(), "state"+archive.Extension)
	_, stderr, err := call(t, "snapshot", "--from", file(t, "shop.yaml", shop), "-o", out)
	if err != nil {
		t.Fatal(err)
	}
	if want := "1 service, 0 proxies, 1 transition; redacted, 0 values left out"; !strings.Contains(stderr, want) {
		t.Errorf("said %q, want %q", stderr, want)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	checkShop(t, b)
	if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) != 1 {
		t.Errorf("%v, %v beside it", left, err)
	}
}

func TestSnapshotOfServer(t *testing.T) {
	secret := file(t, "token", token)
	s := serve(t, "--from", file(t, "shop.yaml", shop), "--token-file", secret, "--health", "127.0.0.1:0")
	defer func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	}()
	for ready := false; !ready; {
		status, _ := get(t, browser(t), "http://"+s.health+"/readyz")
		ready = status == http.StatusOK
	}
	out, _, err := call(t, "snapshot", "--server", "http://"+s.http, "--token-file", secret, "-o", "-")
	if err != nil {
		t.Fatal(err)
	}
	checkShop(t, []byte(out))
	if _, _, err := call(t, "snapshot", "--server", "http://"+s.http, "-o", "-"); err == nil || !strings.Contains(err.Error(), "--token-file") {
		t.Errorf("without a token: %v", err)
	}
}

func TestSnapshotTokenGoesNowhereElse(t *testing.T) {
	secret := file(t, "token", token)
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer other.Close()
	first := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer first.Close()
	if _, _, err := call(t, "snapshot", "--server", first.URL, "--token-file", secret, "-o", "-"); err == nil || !strings.Contains(err.Error(), "302") {
		t.Errorf("redirect: %v", err)
	}
	_, _, err := call(t, "snapshot", "--server", "http://edsight.example", "--token-file", secret, "-o", "-")
	if err == nil || !strings.Contains(err.Error(), "in clear") {
		t.Errorf("plain HTTP to another machine: %v", err)
	}
}

func TestSnapshotKeepsTheOldFileOnError(t *testing.T) {
	out := file(t, "state", "old")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("not an archive"))
	}))
	defer server.Close()
	if _, _, err := call(t, "snapshot", "--server", server.URL, "-o", out); err == nil {
		t.Error("no error")
	}
	if b, err := os.ReadFile(out); err != nil || string(b) != "old" {
		t.Errorf("%q, %v", b, err)
	}
	if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) != 1 {
		t.Errorf("%v, %v beside it", left, err)
	}
}

func TestSnapshotRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"-o", "x"},
		{"--from", "a"},
		{"--from", "a", "--server", "http://b", "-o", "x"},
		{"--server", "b", "-o", "x"},
		{"--server", "ftp://b", "-o", "x"},
		{"--from", "/nowhere", "-o", "-"},
	} {
		if _, _, err := call(t, append([]string{"snapshot"}, args...)...); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}

func TestReplay(t *testing.T) {
	scenario, out := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(scenario, "input"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(scenario, "input", "shop.yaml"), []byte(shop+"---\nkind: [broken\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, err := call(t, "replay", scenario, "--out", out)
	if !strings.Contains(stdout, out) {
		t.Errorf("it does not say where it wrote: %q", stdout)
	}
	if err == nil || !strings.Contains(err.Error(), "places: 1") {
		t.Errorf("a scenario that cannot be read: %v", err)
	}
	if !strings.Contains(stderr, "shop.yaml:") {
		t.Errorf("the broken document is not said: %q", stderr)
	}
	b, err := os.ReadFile(filepath.Join(out, "registryz.json"))
	if err != nil || !strings.Contains(string(b), "web.shop.svc.cluster.local") {
		t.Errorf("registryz.json: %v, %.200s", err, b)
	}
	if _, _, err := call(t, "replay", scenario); err == nil || !strings.Contains(err.Error(), "--out") {
		t.Errorf("without --out: %v", err)
	}
}
