package server

import (
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// param returns a part of the path, unescaped.
func param(r *http.Request, name string) string {
	text := chi.URLParam(r, name)
	if r.URL.RawPath == "" {
		return text // the routes went by the path that is unescaped already
	}
	if u, err := url.PathUnescape(text); err == nil {
		return u
	}
	return text
}

// findService returns the service of the path's {ns} and {host}. One that the
// caller may not see is as unknown as one that does not exist.
func (s *Server) findService(r *http.Request, snap *state.Snapshot) (*state.ServiceState, error) {
	key := model.ServiceKey{Hostname: model.Hostname(param(r, "host")), Namespace: param(r, "ns")}
	svc := snap.Service(key)
	if svc == nil || !authorize(identityOf(r), actionRead, key.Namespace) {
		return nil, s.noService(r, snap, key)
	}
	return svc, nil
}

// findProxy returns the proxy of the path's {id}, likewise.
func (s *Server) findProxy(r *http.Request, snap *state.Snapshot) (*model.Proxy, error) {
	id := param(r, "id")
	p := visibleProxy(r, snap, id)
	if p == nil {
		return nil, s.noProxy(r, snap, id)
	}
	return p, nil
}

// visibleProxy is the proxy of the ID, nil if there is none that the caller may see.
func visibleProxy(r *http.Request, snap *state.Snapshot, id string) *model.Proxy {
	if p := snap.Proxy(id); p != nil && authorize(identityOf(r), actionRead, p.Namespace) {
		return p
	}
	return nil
}
