package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/state"
)

// Mesh is what is disturbed.
type Mesh struct {
	// Core is the one that is served.
	Core *control.Controller
	// Dial connects to its server.
	Dial func() *grpc.ClientConn
	// Put creates, changes or deletes objects.
	Put func(yaml string)
	// Fresh compiles the objects as they are now, for these connected proxies.
	Fresh func([]registry.Pinned) *state.Snapshot
	// Patience bounds the wait for what has to come.
	Patience time.Duration
}

// Options say how much is done.
type Options struct {
	// For is how long the mesh is disturbed.
	For     time.Duration
	Clients int
	Seed    uint64
}

const (
	services = 12
	// between two disturbances.
	pause = 3 * time.Millisecond
)

// run is one run.
type run struct {
	Mesh
	tb      testing.TB
	clients []*client
}

// Run disturbs the mesh, and checks that all clients have in the end what they
// should have, and that the journal waits for none of them.
func Run(tb testing.TB, m Mesh, o Options) {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	var running sync.WaitGroup
	r := &run{Mesh: m, tb: tb}
	defer func() {
		cancel()
		running.Wait()
		for _, c := range r.clients {
			_ = c.conn.Close() // it is not used any more
		}
	}()
	m.Put(objects())
	for i := range o.Clients {
		c := newClient(m.Dial(), i)
		r.clients = append(r.clients, c)
		running.Go(func() { c.run(ctx) })
	}
	r.disturb(rand.New(rand.NewPCG(o.Seed, 1)), o)
	for _, c := range r.clients {
		c.calm.Store(true)
	}
	r.converge()
	// Every cluster changes once more, and its endpoints have to follow.
	for i := range services {
		m.Put(rule(i) + fmt.Sprintf("spec: {host: s%d, trafficPolicy: {connectionPool: {tcp: {maxConnections: 77}}}}\n", i))
	}
	r.converge()
	r.answered()
}

func (r *run) disturb(random *rand.Rand, o Options) {
	end := time.After(o.For)
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-end:
			return
		case <-tick.C:
			if random.IntN(100) == 0 {
				r.Core.Push() // everything goes out again
			}
			r.Put(disturbance(random, o.Clients))
		}
	}
}

// converge asserts that all clients come to have what they should have.
func (r *run) converge() {
	r.tb.Helper()
	begin := time.Now()
	defer func() {
		r.tb.Logf("%d clients converged in %s", len(r.clients), time.Since(begin).Round(time.Millisecond))
	}()
	pins := make([]registry.Pinned, 0, len(r.clients))
	for _, c := range r.clients {
		pins = append(pins, c.pinned)
	}
	snap := r.Fresh(pins)
	for _, c := range r.clients {
		want, err := contentOf(snap, snap.Proxy(c.id))
		if err != nil {
			r.tb.Fatal(err)
		}
		r.eventually(c.id+" has what it should have", func() bool { return c.has(want) }, func() string { return c.differs(want) })
	}
}

// answered asserts that no transition waits for an answer any more.
func (r *run) answered() {
	r.tb.Helper()
	for _, t := range r.Core.Journal().Since(1, 1<<20).Transitions {
		d := r.Core.Journal().Delivery(t.Seq)
		r.eventually(fmt.Sprintf("transition %d is over", t.Seq), func() bool {
			c := d.Counts()
			return c.Waiting() == 0 && c.Sent == 0
		}, func() string { return fmt.Sprintf("%+v", d.Counts()) })
	}
}

// eventually fails, and says why, if the condition does not come true.
func (r *run) eventually(what string, condition func() bool, why func() string) {
	r.tb.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(r.Patience); ; <-tick.C {
		if condition() {
			return
		}
		if time.Now().After(end) {
			r.tb.Fatalf("not within %s: %s\n%.2000s", r.Patience, what, why())
		}
	}
}
