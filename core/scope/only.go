package scope

import (
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// KeyOf returns the Key of a proxy's scope without making the scope.
func (c *Cache) KeyOf(snap *state.Snapshot, p *model.Proxy) Key {
	return c.generation(snap).index().key(p)
}

// Import returns what proxies of a Key use for a hostname, nil if nothing. It
// does not make the whole scope, of which nothing else is asked.
func (c *Cache) Import(snap *state.Snapshot, k Key, host model.Hostname) *Import {
	return c.Narrow(snap, k, host).Import(host)
}

// Narrow returns the scope of a Key as far as one hostname goes: it has at most
// this Import.
func (c *Cache) Narrow(snap *state.Snapshot, k Key, host model.Hostname) *Scope {
	return c.generation(snap).index().only(host).scope(k)
}

// only is the index with the definitions of one hostname. What a scope uses for
// a hostname depends on no definition of another.
func (ix *index) only(host model.Hostname) *index {
	o := *ix
	o.services = ix.byHost[host]
	o.byHost = map[model.Hostname][]*entry{host: o.services}
	o.byNamespace = nil
	return &o
}
