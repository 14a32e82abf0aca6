package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

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
