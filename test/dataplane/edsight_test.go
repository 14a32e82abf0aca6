package dataplane

import (
	"context"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/edsight/edsight/core/ads"
	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/manifest"
	"github.com/edsight/edsight/core/source/memory"
)

const (
	patience = 20 * time.Second
	pause    = 20 * time.Millisecond
)

// mesh is the objects of a mesh, and Edsight serving them; Edsight can be ended
// and started again.
type mesh struct {
	t     *testing.T
	store *memory.Store // nil with another source
	addr  string
	from  func() source.Source

	core    *control.Controller
	ads     *ads.Server
	running bool
	end     func()
}

func newMesh(t *testing.T, yaml string) *mesh {
	t.Helper()
	store := memory.New("test", time.Now)
	m := &mesh{t: t, store: store, addr: freeAddress(t), from: func() source.Source { return store }}
	m.put(yaml)
	m.start()
	t.Cleanup(func() { m.end() })
	return m
}

// meshOf serves another source than objects in memory.
func meshOf(t *testing.T, from func() source.Source) *mesh {
	t.Helper()
	m := &mesh{t: t, addr: freeAddress(t), from: from}
	m.start()
	t.Cleanup(func() { m.end() })
	return m
}

// start runs Edsight, as anew.
func (m *mesh) start() {
	m.t.Helper()
	l, err := (&net.ListenConfig{}).Listen(m.t.Context(), "tcp", m.addr)
	if err != nil {
		m.t.Fatal(err)
	}
	m.core = control.New(control.Options{Source: m.from()})
	m.ads = ads.New(m.core, ads.Options{})
	g := grpc.NewServer(ads.ServerOptions()...)
	m.ads.Register(g, nil)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 3)
	go func() { ended <- m.core.Run(ctx) }()
	go func() { ended <- m.ads.Run(ctx) }()
	go func() { ended <- g.Serve(l) }()
	m.running = true
	m.end = func() {
		m.running = false
		cancel()
		g.Stop()
		for range cap(ended) {
			if err := <-ended; err != nil {
				m.t.Errorf("Edsight ended: %v", err)
			}
		}
		m.end = func() {}
	}
}

// put creates, changes or deletes objects, and waits until Edsight, if it runs, has
// looked at them.
func (m *mesh) put(yaml string) {
	m.t.Helper()
	docs, problems := manifest.Decode("test.yaml", []byte(yaml), "Kubernetes")
	for _, p := range problems {
		m.t.Fatalf("manifest: %s %s: %s", p.Where, p.Field, p.Message)
	}
	for _, d := range docs {
		if d.Op == source.OpDelete {
			m.store.Delete(d.Key)
			continue
		}
		m.store.Put(d.Key, d.Object)
	}
	if m.running {
		// Nobody is pinned by this, but it takes its turn behind the objects.
		<-m.core.Connect(registry.Pinned{Pod: model.ObjectKey{Kind: model.KindPod, Namespace: "shop", Name: "nobody"}})
	}
}

// proxy returns a proxy as the core knows it.
func (m *mesh) proxy(id string) *model.Proxy {
	m.t.Helper()
	var p *model.Proxy
	m.eventually("proxy "+id+" is known", func() bool {
		p = m.core.Snapshot().Proxy(id)
		return p != nil
	})
	return p
}

// eventually fails the test if the condition does not come true.
func (m *mesh) eventually(what string, condition func() bool) {
	m.t.Helper()
	eventually(m.t, what, condition)
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		if condition() {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return address
}
