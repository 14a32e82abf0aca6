package ads

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

var (
	chaosFor     = flag.Duration("chaos", 2*time.Second, "how long TestChaos disturbs")
	chaosClients = flag.Int("chaos-clients", 24, "clients of TestChaos")
	chaosSeed    = flag.Uint64("chaos-seed", 1, "seed of TestChaos")
)

const chaosServices = 12

// TestChaos changes everything at random, while clients come and go, refuse, and
// stop to read. At the end every client has what a core has that starts anew on
// the same objects.
func TestChaos(t *testing.T) {
	before := runtime.NumGoroutine()
	h := start(t, services(chaosServices))
	ctx, cancel := context.WithCancel(t.Context())
	var clients []*wildClient
	var wg sync.WaitGroup
	for i := range *chaosClients {
		c := newWildClient(h, i)
		clients = append(clients, c)
		wg.Go(func() { c.run(ctx) })
	}
	r := rand.New(rand.NewPCG(*chaosSeed, 1))
	end := time.After(*chaosFor)
	tick := time.NewTicker(3 * time.Millisecond)
	defer tick.Stop()
	for done := false; !done; {
		select {
		case <-end:
			done = true
		case <-tick.C:
			h.put(disturbance(r))
		}
	}
	for _, c := range clients {
		c.calm.Store(true)
	}
	converge(h, clients)
	// Every cluster changes once more, and its endpoints have to follow.
	for i := range chaosServices {
		h.put(fmt.Sprintf("apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: s%d, namespace: shop}\n", i) +
			fmt.Sprintf("spec: {host: s%d, trafficPolicy: {connectionPool: {tcp: {maxConnections: 77}}}}\n", i))
	}
	converge(h, clients)
	checkDeliveries(t, h)
	cancel()
	wg.Wait()
	for _, c := range clients {
		_ = c.conn.Close()
	}
	h.stop()
	h.server.running.Wait()
	h.eventually("no goroutine is left", func() bool { return runtime.NumGoroutine() <= before+2 })
}

// converge asserts that all clients come to have what they should have.
func converge(h *harness, clients []*wildClient) {
	h.t.Helper()
	h.eventually("all changes are published", func() bool { return h.core.Status().Waiting == 0 })
	want := expected(h, clients)
	for _, c := range clients {
		defer func() {
			if diff := c.differs(want[c.id]); h.t.Failed() && diff != "" {
				h.t.Logf("%s:\n%.2000s", c.id, diff)
			}
		}()
		h.eventually(c.id+" has what it should have", func() bool { return c.differs(want[c.id]) == "" })
	}
}

// checkDeliveries asserts that no transition waits for an answer any more.
func checkDeliveries(t *testing.T, h *harness) {
	t.Helper()
	for _, tr := range h.core.Journal().Since(1, 1<<20).Transitions {
		d := h.core.Journal().Delivery(tr.Seq)
		h.eventually(fmt.Sprintf("transition %d is over", tr.Seq), func() bool {
			c := d.Counts()
			return c.Waiting() == 0 && c.Sent == 0
		})
	}
}

// disturbance is one random change.
func disturbance(r *rand.Rand) string {
	s := fmt.Sprintf("s%d", r.IntN(chaosServices))
	service := fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: %s, namespace: shop}\n", s)
	rule := fmt.Sprintf("apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: %s, namespace: shop}\n", s)
	switch r.IntN(20) {
	case 0:
		return "$op: delete\n" + service
	case 1, 2:
		return service + fmt.Sprintf("spec: {clusterIP: 10.1.0.1, ports: [{name: http, port: %d}]}\n", 80+r.IntN(2))
	case 3:
		return "$op: delete\n" + rule
	case 4:
		return rule + fmt.Sprintf(`spec:
  host: %s
  trafficPolicy: {connectionPool: {tcp: {maxConnections: %d}}, outlierDetection: {consecutive5xxErrors: %d}}
  subsets: [{name: v%d, labels: {version: v1}}]
`, s, 1+r.IntN(9), 1+r.IntN(9), r.IntN(3))
	case 5:
		return fmt.Sprintf(`apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: some, namespace: shop}
spec: {workloadSelector: {labels: {team: t%d}}, egress: [{hosts: ["./%s.shop.svc.cluster.local"]}]}
`, r.IntN(3), s)
	case 6:
		return "$op: delete\napiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: {name: some, namespace: shop}\n"
	case 7:
		return wildPod(r.IntN(*chaosClients), r.IntN(3))
	default:
		var ips []string
		for range r.IntN(4) {
			ips = append(ips, fmt.Sprintf("10.0.%d.%d", r.IntN(4), r.IntN(4)))
		}
		return slice(s, ips...)
	}
}

func wildPod(client, team int) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: client-%d, namespace: shop, labels: {team: t%d}}
spec: {containers: [{name: app, image: app}]}
status: {phase: Running, podIP: 10.8.0.%d}
`, client, team, client%250+1)
}

// content is what a client should have: by name the bytes of clusters and of
// assignments.
type content struct{ clusters, endpoints map[string]string }

// expected computes the content of all clients from the objects alone.
func expected(h *harness, clients []*wildClient) map[string]content {
	h.t.Helper()
	core := control.New(control.Options{Source: h.store})
	h.store.Attach(core)
	for _, c := range clients {
		core.Connect(c.pinned)
	}
	core.Flush()
	snap := core.Snapshot()
	h.store.Attach(h.core)
	out := map[string]content{}
	for _, c := range clients {
		out[c.id] = contentOf(h.t, snap, snap.Proxy(c.id))
	}
	return out
}

func contentOf(t testing.TB, snap *state.Snapshot, p *model.Proxy) content {
	t.Helper()
	out := content{map[string]string{}, map[string]string{}}
	for _, c := range cds.Build(snap, p) {
		m, err := c.Message(snap.Mesh)
		if err != nil {
			t.Fatal(err)
		}
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		out.clusters[c.Name] = string(b)
		if a := c.Assignment(); a != nil {
			out.endpoints[c.Name] = string(a.Bytes())
		}
	}
	return out
}

// differs says what the client has else than it should have, "" if nothing.
func (c *wildClient) differs(want content) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	diff := cmp.Diff(want.clusters, c.clusters) + cmp.Diff(want.endpoints, c.endpoints)
	if diff == "" && len(c.warming) > 0 {
		var names []string
		for n := range c.warming {
			names = append(names, n)
		}
		diff = "clusters wait for their endpoints: " + strings.Join(names, " ")
	}
	return diff
}
