package server

import (
	"context"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
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
	// namespaced tells that the answer belongs to one namespace: the handler
	// gets at it by findService or findProxy, which authorize.
	namespaced bool
	websocket  bool
	// mutates tells that it changes state; the method is then not GET.
	mutates bool
	// instant tells that the answer costs nothing: it waits for no core, however
	// many read.
	instant bool
	handle  handler
}

// routes is the table of all doors.
func (s *Server) routes() []route {
	var all []route
	for _, part := range [][]route{
		s.loginRoutes(), s.healthRoutes(), s.debugRoutes(), s.apiRoutes(), s.liveRoutes(), s.metricsRoutes(), s.pageRoutes(), s.explainRoutes(), s.compareRoutes(), s.snapshotRoutes(),
	} {
		all = append(all, part...)
	}
	return all
}

func (s *Server) router(routes []route) http.Handler {
	mux := chi.NewRouter()
	for i := range routes {
		mux.Method(routes[i].method, routes[i].pattern, s.door(&routes[i]))
	}
	mux.NotFound(s.door(&route{access: accessPrivate, handle: func(_ http.ResponseWriter, r *http.Request) error {
		return notFound("there is nothing at %s", r.URL.Path)
	}}).ServeHTTP)
	mux.MethodNotAllowed(s.door(&route{access: accessPrivate, handle: func(_ http.ResponseWriter, r *http.Request) error {
		return errorf(http.StatusMethodNotAllowed, "%s is not possible at %s", r.Method, r.URL.Path)
	}}).ServeHTTP)
	return jsonTwins(mux)
}

// door makes the handler of one row: admission, the answer, and the error.
func (s *Server) door(rt *route) http.Handler {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recordOf(r).pattern = rt.pattern
		err := s.admit(rt, r)
		if err == nil {
			err = rt.handle(w, r)
		}
		if err != nil {
			s.fail(w, r, err)
		}
	})
	switch {
	case rt.websocket:
		return h
	case rt.instant:
		return compress(h)
	}
	return s.cores.share(compress(h))
}

// compress takes the cheapest level: bodies repeat themselves, and the connection is
// short.
func compress(h http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.CompressionLevel(gzip.BestSpeed))
	if err != nil {
		return gzhttp.GzipHandler(h) // the level is a valid one
	}
	return wrap(h)
}

// jsonTwins makes "/services.json" another name of "/services" for those who
// want JSON. Below /api, /debug and /static names are taken as they are, and where
// the last dot is escaped, as a link does to what has such a name itself.
func jsonTwins(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, twin := strings.TrimSuffix(r.URL.Path, ".json"), strings.HasSuffix(r.URL.EscapedPath(), ".json")
		for _, prefix := range []string{"/api/", "/debug/", "/static/"} {
			twin = twin && !strings.HasPrefix(path, prefix)
		}
		if twin {
			r = r.WithContext(context.WithValue(r.Context(), keyTwin, true))
			u := *r.URL
			u.Path, u.RawPath = path, strings.TrimSuffix(u.RawPath, ".json")
			r.URL = &u
		}
		next.ServeHTTP(w, r)
	})
}

func jsonSuffixed(r *http.Request) bool {
	return r.Context().Value(keyTwin) != nil
}
