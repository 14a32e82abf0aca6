package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInputsThatAreNoFiles: what may never end is not read, wherever a file is named.
func TestInputsThatAreNoFiles(t *testing.T) {
	state, shopFile := exported(t, shop+clientPod), file(t, "shop.yaml", shop+clientPod)
	const proxy, target, url = "client-0.shop", "web.shop.svc.cluster.local:80", "http://127.0.0.1:1"
	for _, args := range [][]string{
		{"diff", state, os.DevNull, "--proxy", proxy},
		{"diff", os.DevNull, state, "--proxy", proxy},
		{"diff", url, state, "--token-file", os.DevNull},
		{"explain", proxy, target, "--from", os.DevNull},
		{"explain", proxy, target, "--from", shopFile, "--envoy", os.DevNull},
		{"explain", proxy, target, "--server", url, "--token-file", os.DevNull},
		{"wrong", "--from", os.DevNull},
		{"snapshot", "--from", os.DevNull, "-o", filepath.Join(t.TempDir(), "out")},
		{"serve", "--demo", "--http", "127.0.0.1:0", "--token-file", os.DevNull},
		{"serve", "--demo", "--http", "127.0.0.1:0", "--istiod", url, "--istiod-token-file", os.DevNull},
	} {
		_, _, err := call(t, args...)
		if err == nil || !strings.Contains(err.Error(), "not a regular file") || !strings.Contains(err.Error(), os.DevNull) {
			t.Errorf("%q: the error is %v, want that %s is not a regular file", args, err, os.DevNull)
		}
	}
}

func TestTokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	write := func(text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := edsightToken(path); err == nil {
		t.Error("an absent file is read")
	}
	write(token+"\n", 0o600)
	if got, err := edsightToken(path); err != nil || got != token {
		t.Errorf("got %q, %v", got, err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o644} {
		write(token, mode)
		if _, err := edsightToken(path); err == nil {
			t.Errorf("mode %04o is accepted", mode)
		}
	}
	write("short", 0o600)
	if _, err := edsightToken(path); err == nil {
		t.Error("a short token is accepted")
	}
}
