package server

import (
	"net/http"

	"github.com/go-chi/chi/v5"
)

// access says who may pass a route. The zero value is the strictest.
type access uint8

const (
	// accessPrivate needs an identity which authorize admits.
	accessPrivate access = iota
	// accessDebug is like accessPrivate, but open to everybody with OpenDebug.
	accessDebug
	// accessPublic is for what a browser needs before the login, and probes.
	accessPublic
)

// handler answers a request, or returns an error before it has written anything.
type handler func(w http.ResponseWriter, r *http.Request) error

// route is one row of the table of all doors.
type route struct {
	method, pattern, help string
	access                access
	// namespaced tells that the answer belongs to one namespace, which the
	// handler finds by service or proxy.
	namespaced bool
	websocket  bool
	// mutates tells that it changes state; the method is then not GET.
	mutates bool
	handle  handler
}

// routes is the table of all doors.
func (s *Server) routes() []route {
	return s.pageRoutes()
}

func (s *Server) router() http.Handler {
	mux := chi.NewRouter()
	for _, rt := range s.routes() {
		mux.MethodFunc(rt.method, rt.pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := rt.handle(w, r); err != nil {
				s.fail(w, r, err)
			}
		})
	}
	return mux
}
