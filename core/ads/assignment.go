package ads

import (
	"sync"

	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/state"
)

// assignment holds the newest serialised endpoints of one View. All catalogs with
// an equal View share it.
type assignment struct {
	view eds.View

	mu      sync.Mutex // protects current
	current *built
}

// built are the endpoints made of one state of the service.
type built struct {
	service *state.ServiceState
	version uint64 // of the snapshot that has the service in this state
	get     func() *resource
}

// of returns the endpoints as the snapshot has them, or newer ones.
func (a *assignment) of(snap *state.Snapshot) *resource {
	svc := snap.Service(a.view.Service)
	a.mu.Lock()
	b := a.current
	if b == nil || (b.service != svc && b.version < snap.Version) {
		b = &built{service: svc, version: snap.Version, get: sync.OnceValue(func() *resource {
			built := eds.Build(svc, a.view)
			return newResource(typeEndpoint, built.Cluster, built.Bytes())
		})}
		a.current = b
	}
	a.mu.Unlock()
	return b.get()
}
