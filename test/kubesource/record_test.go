package kubesource_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/kube"
)

// patience is how long a test waits for what must come.
const patience = 60 * time.Second

// record is a sink that keeps what it is told.
type record struct {
	mu     sync.Mutex
	causes []source.Cause
	synced int
	news   chan struct{} // closed and replaced when something is told
}

func newRecord() *record { return &record{news: make(chan struct{})} }

func (r *record) Dirty(causes ...source.Cause) {
	r.tell(func() { r.causes = append(r.causes, causes...) })
}

func (r *record) Synced() { r.tell(func() { r.synced++ }) }

func (r *record) tell(what func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	what()
	close(r.news)
	r.news = make(chan struct{})
}

// wait returns when ok holds of what was told.
func (r *record) wait(t *testing.T, what string, ok func(r *record) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		r.mu.Lock()
		news, good := r.news, ok(r)
		r.mu.Unlock()
		if good {
			return
		}
		select {
		case <-news:
		case <-ctx.Done():
			t.Fatalf("waited in vain for: %s", what)
		}
	}
}

// waitFor waits until a change was told.
func (r *record) waitFor(t *testing.T, op source.Op, kind model.Kind, name string) source.Cause {
	t.Helper()
	var found source.Cause
	r.wait(t, string(op)+" of "+string(kind)+" "+name, func(r *record) bool {
		for _, c := range r.causes {
			if c.Op == op && c.Key.Kind == kind && c.Key.Name == name {
				found = c
				return true
			}
		}
		return false
	})
	return found
}

func (r *record) waitSynced(t *testing.T) {
	t.Helper()
	r.wait(t, "synced", func(r *record) bool { return r.synced > 0 })
}

func (r *record) count(ok func(source.Cause) bool) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, c := range r.causes {
		if ok(c) {
			n++
		}
	}
	return n
}

func (r *record) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.causes = nil
}

// run runs the source of one cluster until the test ends.
func run(t *testing.T, cfg *rest.Config) (*kube.Cluster, *record) {
	t.Helper()
	c, err := kube.New(cfg, kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c, runSource(t, c)
}

// runMesh runs the source of a mesh until the test ends.
func runMesh(t *testing.T, cfg *rest.Config, o kube.Options) (*kube.Mesh, *record) {
	t.Helper()
	m, err := kube.NewMesh(cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	return m, runSource(t, m)
}

func runSource(t *testing.T, s source.Source) *record {
	t.Helper()
	r := newRecord()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, r) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
		for _, c := range s.Status().Clusters {
			if c.Sync != "closed" {
				t.Errorf("after the end the status of %s is %q", c.ID, c.Sync)
			}
		}
	})
	return r
}

// eventually waits until the source says so of itself.
func eventually(t *testing.T, c source.Source, what string, ok func(source.Status) bool) source.Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if st := c.Status(); ok(st) {
			return st
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited in vain for: %s; status %+v", what, c.Status())
		}
	}
}

func keys(c source.Source, kind model.Kind) []string {
	var names []string
	for k := range c.All() {
		if k.Kind == kind {
			names = append(names, k.Namespace+"/"+k.Name)
		}
	}
	slices.Sort(names)
	return names
}
