package main

import (
	"bytes"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/archive"
	"github.com/edsight/edsight/core/registry"
)

func TestFeaturesOfIstiodsEnvironment(t *testing.T) {
	cases := []struct {
		env   []string
		want  registry.Features
		fails string
		warns string
	}{
		{nil, registry.Features{}, "", ""},
		{[]string{"ENABLE_MCS_HOST=true", "PILOT_ENABLE_AMBIENT=1"}, registry.Features{ServiceImports: true, Ambient: true}, "", ""},
		{[]string{"ENABLE_MCS_HOST=true", "ENABLE_MCS_HOST=false"}, registry.Features{}, "", ""},
		{[]string{"PILOT_UNKNOWN=a,b=c"}, registry.Features{}, "", "PILOT_UNKNOWN"},
		{[]string{"ENABLE_MCS_HOSTS=true", "ENABLE_MCS_HOST=true"}, registry.Features{ServiceImports: true}, "", "ENABLE_MCS_HOSTS"},
		{[]string{"ENABLE_MCS_HOST"}, registry.Features{}, "NAME=VALUE", ""},
		{[]string{"=true"}, registry.Features{}, "NAME=VALUE", ""},
		{[]string{"ENABLE_MCS_HOST=maybe"}, registry.Features{}, "ENABLE_MCS_HOST", ""},
	}
	for _, c := range cases {
		f := meshFlags{istiodEnv: c.env}
		var log bytes.Buffer
		got, err := f.features(slog.New(slog.NewTextHandler(&log, nil)))
		if (err != nil) != (c.fails != "") || (err != nil && !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%v: error %v, want one with %q", c.env, err, c.fails)
		}
		if warned := log.String(); (warned != "") != (c.warns != "") || !strings.HasSuffix(strings.TrimSpace(warned), c.warns) {
			t.Errorf("%v: it warns %q, want %q", c.env, warned, c.warns)
		}
		if err == nil && got != c.want {
			t.Errorf("%v: %+v, want %+v", c.env, got, c.want)
		}
	}
}

func TestServeRefusesFlagsThatDoNotFit(t *testing.T) {
	for _, args := range [][]string{
		{"serve", "--demo", "--istiod-env", "ENABLE_MCS_HOST=maybe"},
		{"serve", "--from", ".", "--cluster-id", "east"},
	} {
		if _, _, err := call(t, args...); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
}

// TestEnvironmentOfManifests: istiod's environment counts where manifests are asked, and
// is refused where something else says what counts.
func TestEnvironmentOfManifests(t *testing.T) {
	from := file(t, "shop.yaml", strings.Replace(shop, "ready: true", "ready: false, terminating: false", 1)+clientPod)
	state := filepath.Join(t.TempDir(), "state"+archive.Extension)
	env := []string{"--istiod-env", "PILOT_SEND_UNHEALTHY_ENDPOINTS=true"}
	ask := func(args ...string) (said string, code int) {
		t.Helper()
		_, said, code = explained(t, append([]string{"client-0.shop", "web.shop.svc.cluster.local:80"}, args...)...)
		return said, code
	}
	if said, code := ask("--from", from); code != exitAbsent {
		t.Errorf("without it: %d %s", code, said)
	}
	if said, code := ask(append(env, "--from", from)...); code != 0 {
		t.Errorf("with it: %d %s", code, said)
	}
	if _, _, err := call(t, append([]string{"snapshot", "--from", from, "-o", state}, env...)...); err != nil {
		t.Fatal(err)
	}
	if said, code := ask("--from", state); code != 0 {
		t.Errorf("exported with it: %d %s", code, said)
	}
	if said, code := ask(append(env, "--from", from, "--istiod-env", "ENABLE_MCS_HOST=maybe")...); code != exitTrouble || !strings.Contains(said, "--istiod-env") {
		t.Errorf("no flag: %d %s", code, said)
	}
	for _, mesh := range [][]string{env, {"--root-namespace", "istio-system"}} {
		for _, args := range [][]string{{"--from", state}, {"--server", "http://127.0.0.1:1"}} {
			if said, code := ask(append(mesh, args...)...); code != exitTrouble || !strings.Contains(said, mesh[0]) {
				t.Errorf("%q: %d %s", args, code, said)
			}
		}
		if _, _, err := call(t, append([]string{"serve", "--from", state}, mesh...)...); !errors.Is(err, errMeshOfArchive) {
			t.Errorf("serve: %v", err)
		}
		if _, _, err := call(t, append([]string{"snapshot", "--server", "http://127.0.0.1:1", "-o", state}, mesh...)...); err == nil || !strings.Contains(err.Error(), mesh[0][2:]) {
			t.Errorf("snapshot: %v", err)
		}
	}
}
