package scope

import (
	"sync"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// Cache shares Scopes among proxies for as long as the configuration does not
// change. Its zero value is ready, and its methods may be called concurrently.
type Cache struct {
	mu sync.Mutex // protects current
	// current is of the newest configuration asked for.
	current *generation
}

// generation holds the scopes of one configuration.
type generation struct {
	version uint64
	mesh    *state.Mesh
	index   func() *index

	mu     sync.Mutex // protects scopes
	scopes map[Key]func() *Scope
}

// For returns the scope of a proxy in the snapshot.
func (c *Cache) For(snap *state.Snapshot, p *model.Proxy) *Scope {
	return c.generation(snap).scope(p)
}

// generation finds the scopes of the snapshot's configuration. A reader that is
// late gets one of its own, which nobody keeps.
func (c *Cache) generation(snap *state.Snapshot) *generation {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.current; g != nil && g.version == snap.ConfigVersion && g.mesh == snap.Mesh {
		return g
	}
	g := &generation{
		version: snap.ConfigVersion, mesh: snap.Mesh,
		index:  sync.OnceValue(func() *index { return newIndex(snap) }),
		scopes: map[Key]func() *Scope{},
	}
	if c.current == nil || c.current.version < g.version {
		c.current = g
	}
	return g
}

func (g *generation) scope(p *model.Proxy) *Scope {
	ix := g.index()
	k := ix.key(p)
	g.mu.Lock()
	get := g.scopes[k]
	if get == nil {
		get = sync.OnceValue(func() *Scope { return ix.scope(k) })
		g.scopes[k] = get
	}
	g.mu.Unlock()
	return get()
}
