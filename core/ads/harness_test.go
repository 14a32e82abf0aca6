package ads

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/manifest"
	"github.com/edsight/edsight/core/source/memory"
)

const (
	patience = 10 * time.Second
	quiet    = 150 * time.Millisecond // in which nothing may come
)

// harness is the whole core, served in memory.
type harness struct {
	t       testing.TB
	store   *memory.Store
	core    *control.Controller
	server  *Server
	pipe    *bufconn.Listener
	stop    func()
	who     Authenticator
	options Options
}

func start(t testing.TB, yaml string, with ...func(*harness)) *harness {
	t.Helper()
	h := &harness{t: t, store: memory.New("test", time.Now), pipe: bufconn.Listen(1 << 20)}
	for _, f := range with {
		f(h)
	}
	h.put(yaml)
	h.core = control.New(control.Options{Source: h.store})
	h.server = New(h.core, h.options)
	g := grpc.NewServer(ServerOptions()...)
	h.server.Register(g, h.who)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 3)
	go func() { ended <- h.core.Run(ctx) }()
	go func() { ended <- h.server.Run(ctx) }()
	go func() { ended <- g.Serve(h.pipe) }()
	h.stop = func() {
		cancel()
		g.Stop()
		for range cap(ended) {
			if err := <-ended; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
				t.Errorf("ended: %v", err)
			}
		}
		h.stop = func() {}
	}
	t.Cleanup(func() { h.stop() })
	return h
}

func (h *harness) put(yaml string) {
	h.t.Helper()
	docs, problems := manifest.Decode("test.yaml", []byte(yaml), "Kubernetes")
	for _, p := range problems {
		h.t.Fatalf("manifest: %s %s: %s", p.Where, p.Field, p.Message)
	}
	for _, d := range docs {
		if d.Op == source.OpDelete {
			h.store.Delete(d.Key)
			continue
		}
		h.store.Put(d.Key, d.Object)
	}
}

// apply is put, and the transition that came of it, which has to touch a push.
func (h *harness) apply(yaml string) *journal.Transition {
	h.t.Helper()
	from := h.core.Journal().Last() + 1
	h.put(yaml)
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	if err := h.core.Journal().Wait(ctx, from); err != nil {
		h.t.Fatal("no transition")
	}
	return h.core.Journal().Get(from)
}

func (h *harness) dial() *grpc.ClientConn {
	h.t.Helper()
	conn, err := grpc.NewClient("passthrough:///edsight", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return h.pipe.DialContext(ctx) }))
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// delivered waits until a transition is answered by all.
func (h *harness) delivered(t *journal.Transition) journal.Delivered {
	h.t.Helper()
	var d journal.Delivered
	h.eventually(fmt.Sprintf("transition %d is answered by all", t.Seq), func() bool {
		d = h.core.Journal().Delivery(t.Seq).Counts()
		return d.Affected > 0 && d.Waiting() == 0
	})
	return d
}

func (h *harness) eventually(what string, condition func() bool) {
	h.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		if condition() {
			return
		}
		if time.Now().After(end) {
			h.t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// services writes n services named s0, s1, ... in namespace shop, with one
// endpoint each.
func services(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `---
apiVersion: v1
kind: Service
metadata: {name: s%d, namespace: shop}
spec: {clusterIP: 10.1.0.%d, ports: [{name: http, port: 80}]}
`, i, i+1)
		b.WriteString(slice(fmt.Sprintf("s%d", i), fmt.Sprintf("10.0.%d.1", i)))
	}
	return b.String()
}

func slice(service string, ips ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: %[1]s-1, namespace: shop, labels: {kubernetes.io/service-name: %[1]s}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints:
`, service)
	if len(ips) == 0 {
		return strings.TrimSuffix(b.String(), "\n") + " []\n"
	}
	for _, ip := range ips {
		fmt.Fprintf(&b, "- {addresses: [%s], conditions: {ready: true}}\n", ip)
	}
	return b.String()
}

func cluster(service string) string { return "outbound|80||" + service + ".shop.svc.cluster.local" }
