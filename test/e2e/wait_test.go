package e2e_test

import (
	"context"
	"testing"
	"time"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/source"
)

// patience is how long a test waits for what must come.
const patience = 60 * time.Second

// synced is a sink that only says when all was told.
type synced struct{ done chan struct{} }

func (synced) Dirty(...source.Cause) {}

func (s synced) Synced() { close(s.done) }

// edsight is Edsight as a test sees it: the core in the same process, or the
// program.
type edsight interface {
	// shards is the body of endpointShardz.
	shards(t *testing.T) shardz
	// until returns when ok holds; ok is asked again after each transition.
	until(t *testing.T, what string, ok func() bool)
	status(t *testing.T) control.Status
}

// connection waits until the API server is, or is not, connected.
func connection(t *testing.T, e edsight, connected bool) source.ClusterStatus {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if st := e.status(t).Source.Clusters[0]; st.Connected == connected {
			return st
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("the connection never was %v", connected)
		}
	}
}
