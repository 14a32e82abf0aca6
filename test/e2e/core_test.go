package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/debugz"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/kube"
	"github.com/edsight/edsight/test/kubetest"
)

// system is Edsight's core on a real cluster.
type system struct {
	*kubetest.Cluster
	control *control.Controller
	guard   *guard
}

// start starts the core with all rights on the cluster. At the end of the test
// no object of the source may have been changed by what read it.
func start(t *testing.T, k *kubetest.Cluster) *system {
	t.Helper()
	src, err := kube.New(k.Config(), kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &system{Cluster: k, guard: newGuard(src)}
	s.control = control.New(control.Options{Source: s.guard})
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
func (s *system) until(t *testing.T, what string, ok func() bool) {
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
func (s *system) shards(t *testing.T) shardz {
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

// connection waits until the API server is, or is not, connected.
func (s *system) connection(t *testing.T, connected bool) source.ClusterStatus {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if st := s.control.Status().Source.Clusters[0]; st.Connected == connected {
			return st
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("the connection never was %v", connected)
		}
	}
}
