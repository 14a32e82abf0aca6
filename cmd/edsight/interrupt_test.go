package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
)

// TestInterrupted: what was not done is not reported as done.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	from, state := file(t, "shop.yaml", shop+clientPod), exported(t, shop+clientPod)
	scenario, out := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(scenario, "input"), 0o750); err != nil {
		t.Fatal(err)
	}
	const web, running = "web.shop.svc.cluster.local:80", "http://127.0.0.1:1"
	for _, c := range []struct {
		code int
		args []string
	}{
		{exitTrouble, []string{"explain", "client-0.shop", web, "--from", from}},
		{exitTrouble, []string{"explain", "client-0.shop", web, "--from", from, "-o", "json"}},
		{exitTrouble, []string{"explain", "client-0.shop", web, "--server", running}},
		{exitTrouble, []string{"wrong", "--from", from}},
		{exitTrouble, []string{"wrong", "--server", running}},
		{exitTrouble, []string{"diff", state, running}},
		{1, []string{"snapshot", "--from", from, "-o", filepath.Join(out, "state")}},
		{1, []string{"snapshot", "--server", running, "-o", filepath.Join(out, "state")}},
		{1, []string{"replay", scenario, "--out", out}},
	} {
		env := nothing(t)
		var said bytes.Buffer
		env.out = &said
		if code := exitCode(run(ctx, c.args, env), &said); code != c.code || said.Len() == 0 {
			t.Errorf("%v: ends with %d, want %d, and says %q", c.args, code, c.code, &said)
		}
	}
}
