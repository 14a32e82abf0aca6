package ads

import (
	"sync"
	"sync/atomic"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// generation is what all audiences share at one version of the configuration.
type generation struct {
	snap   *state.Snapshot
	scopes *scope.Cache

	mu    sync.Mutex // protects kinds
	kinds map[*scope.Scope]func() *cds.Audiences
}

// audience finds a proxy's scope and audience.
func (g *generation) audience(p *model.Proxy) (*scope.Scope, cds.Audience) {
	sc := g.scopes.For(g.snap, p)
	g.mu.Lock()
	get := g.kinds[sc]
	if get == nil {
		get = sync.OnceValue(func() *cds.Audiences { return cds.NewAudiences(sc) })
		g.kinds[sc] = get
	}
	g.mu.Unlock()
	return sc, get().Of(p)
}

// news is one piece of news of an audience. A stream holds the last that it has
// read; the next is there when done is closed.
type news struct {
	// services whose endpoints changed, and the names under which the audience has
	// these endpoints.
	services []model.ServiceKey
	names    func() []string
	// version of the snapshot that has the changes.
	version uint64
	// deliveries of the transitions that this is about.
	deliveries []tracked
	// moved tells that the configuration changed: look for the audience anew.
	moved bool
	// round ends when most streams have been sent this.
	round *round

	done chan struct{}
	next *news // set before done is closed
}

// audienceKey tells audiences apart.
type audienceKey struct {
	cds.Audience
	// grpc clients get other messages for the same clusters.
	grpc bool
}

// audience is a group of proxies that share their clusters, at one version of the
// configuration.
type audience struct {
	key audienceKey
	// clusters makes the catalog when it is asked for first.
	clusters func() *catalog
	built    atomic.Pointer[catalog] // nil until then

	// All below is protected by the hub.
	streams int
	last    *news
}

// namesOf makes the names of services' endpoints when they are asked for first.
func (a *audience) namesOf(services []model.ServiceKey) func() []string {
	return sync.OnceValue(func() []string {
		var out []string
		for _, key := range services {
			a.clusters().names(key, func(name string) { out = append(out, name) })
		}
		return out
	})
}
