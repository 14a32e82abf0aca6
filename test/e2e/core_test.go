package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/debugz"
	"github.com/edsight/edsight/core/source/kube"
	"github.com/edsight/edsight/test/kubetest"
)

// inProcess is Edsight's core, in the process of the test.
type inProcess struct {
	control *control.Controller
	guard   *guard
}

// start starts the core with all rights on the cluster. At the end of the test
// no object of the source may have been changed by what read it.
func start(t *testing.T, k *kubetest.Cluster) *inProcess {
	t.Helper()
	src, err := kube.New(k.Config(), kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return startCore(t, control.Options{Source: src})
}

// startCore starts the core until the end of the test.
func startCore(t *testing.T, o control.Options) *inProcess {
	t.Helper()
	s := &inProcess{guard: newGuard(o.Source)}
	o.Source = s.guard
	s.control = control.New(o)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- s.control.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("core: %v", err)
		}
		s.guard.check(t)
	})
	return s
}

// until returns when ok holds of some state from now on; ok is asked again
// after each transition.
func (s *inProcess) until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		next := s.control.Journal().Last() + 1
		if ok() {
			return
		}
		if err := s.control.Journal().Wait(ctx, next); err != nil {
			t.Fatalf("waited in vain for %s; status %+v", what, s.control.Status())
		}
	}
}

// shards is /debug/endpointShardz of the newest state.
func (s *inProcess) shards(t *testing.T) shardz {
	t.Helper()
	var body bytes.Buffer
	if err := debugz.WriteObject(&body, debugz.EndpointShards(s.control.Snapshot()), ""); err != nil {
		t.Fatal(err)
	}
	parsed := shardz{}
	if err := json.Unmarshal(body.Bytes(), &parsed); err != nil {
		t.Fatal(err)
	}
	return parsed
}

func (s *inProcess) status(*testing.T) control.Status { return s.control.Status() }
