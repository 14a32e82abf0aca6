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
	version uint64 // of the newest snapshot that has the service in this state
	get     func() *resource
}

// of returns the endpoints as the snapshot has them, or newer ones.
func (a *assignment) of(snap *state.Snapshot) *resource {
	a.mu.Lock()
	b := a.current
	if b == nil || b.version < snap.Version {
		b = a.renewLocked(snap)
	}
	a.mu.Unlock()
	return b.get()
}

// renewLocked looks at the service as a newer snapshot has it.
func (a *assignment) renewLocked(snap *state.Snapshot) *built {
	svc := snap.Service(a.view.Service)
	b := &built{service: svc, version: snap.Version}
	if a.current != nil && a.current.service == svc {
		b.get = a.current.get
	} else {
		b.get = sync.OnceValue(func() *resource {
			built := eds.Build(svc, a.view)
			return newResource(typeEndpoint, built.Cluster, built.Bytes())
		})
	}
	a.current = b
	return b
}
