package coretest

import (
	"testing"
	"time"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/manifest"
	"github.com/edsight/edsight/core/source/memory"
)

// Core is the core over a store in memory.
type Core struct {
	*control.Controller
	Store    *memory.Store
	tb       testing.TB
	features registry.Features
}

// New returns a core over an empty store, with its first state published.
func New(tb testing.TB) *Core {
	tb.Helper()
	return NewWith(tb, registry.Features{})
}

// NewWith is New with features of Istio that are off by default.
func NewWith(tb testing.TB, features registry.Features) *Core {
	tb.Helper()
	return start(&Core{Store: memory.New("test", time.Now), tb: tb, features: features})
}

func start(c *Core) *Core {
	c.Controller = control.New(control.Options{Source: c.Store, Features: c.features})
	c.Store.Attach(c.Controller)
	c.Flush()
	return c
}

// Apply is Put and a turn. It returns the transition, nil if there was none.
func (c *Core) Apply(yaml string) *journal.Transition {
	c.tb.Helper()
	c.Put(yaml)
	return c.Flush()
}

// Put decodes manifests, and creates, updates or (with "$op: delete") deletes
// their objects. A manifest that cannot be read fails the test.
func (c *Core) Put(yaml string) {
	c.tb.Helper()
	docs, problems := manifest.Decode("test.yaml", []byte(yaml), "Kubernetes")
	for _, p := range problems {
		c.tb.Fatalf("manifest: %s %s: %s", p.Where, p.Field, p.Message)
	}
	for _, d := range docs {
		if d.Op == source.OpDelete {
			c.Store.Delete(d.Key)
			continue
		}
		c.Store.Put(d.Key, d.Object)
	}
}

// Rebuilt returns a core that starts anew on the objects as they are now.
func (c *Core) Rebuilt() *Core {
	c.tb.Helper()
	n := start(&Core{Store: c.Store, tb: c.tb, features: c.features})
	c.Store.Attach(c.Controller)
	c.Flush()
	return n
}
