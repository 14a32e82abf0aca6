package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// fill puts something that exists into the variables of a pattern.
func fill(pattern string) string {
	return strings.NewReplacer(
		"{ns}", "shop", "{host}", "web.shop.svc.cluster.local", "{id}", "web-0.shop", "{seq}", "1",
		"{kind}", "Sidecar", "{name}", "none", "{version}", "none", "{file}", "app.css",
	).Replace(pattern)
}

// withProxy names a proxy where the debug handlers want one.
func withProxy(path, id string) string {
	switch path {
	case "/debug/edsz", "/debug/config_dump", "/debug/sidecarz":
		return path + "?proxyID=" + id
	case "/explain", "/api/v1/explain":
		return path + "?host=web.shop.svc.cluster.local&port=80&proxy=" + id
	}
	return path
}

func request(t *testing.T, rt route, edit func(*http.Request)) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), rt.method, withProxy(fill(rt.pattern), "web-0.shop"), http.NoBody)
	r.Host = "localhost:8080"
	if rt.method != http.MethodGet {
		r.Header.Set("Origin", "http://localhost:8080")
	}
	if edit != nil {
		edit(r)
	}
	return r
}

func serve(s *Server, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

func TestRoutesAreConsistent(t *testing.T) {
	seen := map[string]bool{}
	for _, rt := range New(newFakeCore(), Options{}).routes() {
		door := rt.method + " " + rt.pattern
		if seen[door] {
			t.Errorf("%s is there twice", door)
		}
		seen[door] = true
		if rt.mutates == (rt.method == http.MethodGet) {
			t.Errorf("%s: mutates is %t", door, rt.mutates)
		}
		if rt.help == "" {
			t.Errorf("%s has no help", door)
		}
		if rt.access == accessDebug && !strings.HasPrefix(rt.pattern, "/debug/") {
			t.Errorf("%s is open with the debug handlers", door)
		}
		if strings.Contains(rt.pattern, "{ns}/{host}") && !rt.namespaced || strings.Contains(rt.pattern, "{id}") && !rt.namespaced {
			t.Errorf("%s is about one namespace and does not say so", door)
		}
	}
}

// public are the doors that are open to everybody, written out so that no other
// becomes one by accident.
var public = map[string]bool{
	"GET /login": true, "POST /login": true, "GET /healthz": true, "GET /readyz": true, "GET /static/{version}/{file}": true,
}

func TestEveryDoorForEveryCaller(t *testing.T) {
	now := time.Unix(1700000000, 0)
	s := New(newFakeCore(), Options{Token: testToken, Now: func() time.Time { return now }})
	expired, _ := s.sessions.start()
	now = now.Add(sessionLifetime)
	cookie := func(secret string) func(*http.Request) {
		return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "edsight-session-8080", Value: secret}) }
	}
	for _, rt := range s.routes() {
		door := rt.method + " " + rt.pattern
		if door == "POST /login" {
			continue // its own refusal looks the same; it has its own test
		}
		valid, _ := s.sessions.start()
		ended, _ := s.sessions.start()
		s.sessions.end(ended)
		for caller, tt := range map[string]struct {
			edit func(*http.Request)
			in   bool
		}{
			"anonymous":       {nil, public[door]},
			"expired session": {cookie(expired), public[door]},
			"ended session":   {cookie(ended), public[door]},
			"guessed session": {cookie("guess"), public[door]},
			"wrong token":     {func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+testToken+"x") }, public[door]},
			"session":         {cookie(valid), true},
			"token":           {bearer, true},
		} {
			w := serve(s, request(t, rt, tt.edit))
			if in := w.Code != http.StatusUnauthorized && w.Code != http.StatusForbidden; in != tt.in {
				t.Errorf("%s for %s: %d, want in: %t", door, caller, w.Code, tt.in)
			}
			if w.Code >= http.StatusInternalServerError {
				t.Errorf("%s for %s: %d %s", door, caller, w.Code, w.Body)
			}
		}
	}
}

func TestAnonymousIsToldHowToLogIn(t *testing.T) {
	s := New(newFakeCore(), Options{})
	for _, path := range []string{"/", "/services", "/debug/", "/nothing"} {
		r := request(t, route{method: http.MethodGet, pattern: path}, func(r *http.Request) { r.Header.Set("Accept", "text/html,*/*;q=0.8") })
		w := serve(s, r)
		if w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), `action="/login"`) {
			t.Errorf("%s for a browser: %d, want 401 with the form\n%s", path, w.Code, w.Body)
		}
	}
	for path, accept := range map[string]string{"/services.json": "text/html", "/services": "application/json", "/api/v1/status": "*/*"} {
		w := serve(s, request(t, route{method: http.MethodGet, pattern: path}, func(r *http.Request) { r.Header.Set("Accept", accept) }))
		if w.Code != http.StatusUnauthorized || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s for a program: %d %s, want 401 in JSON", path, w.Code, w.Header().Get("Content-Type"))
		}
	}
}

func TestOpenDebugOpensOnlyWhatReads(t *testing.T) {
	core := newFakeCore()
	s := New(core, Options{OpenDebug: true})
	for _, rt := range s.routes() {
		door := rt.method + " " + rt.pattern
		if door == "POST /login" {
			continue
		}
		want := public[door] || (strings.HasPrefix(rt.pattern, "/debug/") && rt.method == http.MethodGet)
		w := serve(s, request(t, rt, nil))
		if in := w.Code != http.StatusUnauthorized && w.Code != http.StatusForbidden; in != want {
			t.Errorf("%s: %d, want in: %t", door, w.Code, want)
		}
	}
	r := request(t, route{method: http.MethodGet, pattern: "/debug/registryz"}, func(r *http.Request) { r.Host = "evil.example" })
	if w := serve(s, r); w.Code != http.StatusMisdirectedRequest {
		t.Errorf("evil host: %d, want 421", w.Code)
	}
}

// TestViewerSeesOwnNamespacesOnly holds every door about one namespace against
// a viewer of it and of another one: a foreign thing answers like an unknown one.
func TestViewerSeesOwnNamespacesOnly(t *testing.T) {
	core, bare := newFakeCore(), newFakeCore()
	b := state.NewBuilder(bare.snap)
	b.SetService(model.ServiceKey{Hostname: "web.shop.svc.cluster.local", Namespace: "shop"}, nil)
	b.SetProxy("web-0.shop", nil)
	bare.snap = b.Snapshot(time.Unix(1700000000, 0))
	full, without := New(core, Options{}), New(bare, Options{})
	ask := func(s *Server, rt route, path, namespace string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), rt.method, path, http.NoBody)
		w := httptest.NewRecorder()
		sess := &session{name: "viewer", expires: time.Now().Add(time.Hour), over: t.Context(), role: roleViewer, namespaces: []string{namespace}}
		s.sessions.bySecret[digestOf("viewer")] = sess
		r.Host = "localhost:8080"
		r.AddCookie(&http.Cookie{Name: "edsight-session-8080", Value: "viewer"})
		if rt.method != http.MethodGet {
			r.Header.Set("Origin", "http://localhost:8080")
		}
		s.Handler().ServeHTTP(w, r)
		return w
	}
	for _, rt := range full.routes() {
		door, path := rt.method+" "+rt.pattern, withProxy(fill(rt.pattern), "web-0.shop")
		switch {
		case rt.access == accessPublic || rt.pattern == "/logout":
		case !rt.namespaced:
			if w := ask(full, rt, path, "shop"); w.Code != http.StatusForbidden {
				t.Errorf("%s: %d, want 403: it shows all namespaces", door, w.Code)
			}
		default:
			if w := ask(full, rt, path, "shop"); w.Code != http.StatusOK {
				t.Errorf("%s in the own namespace: %d %s", door, w.Code, w.Body)
			}
			foreign, unknown := ask(full, rt, path, "other"), ask(without, rt, path, "other")
			if foreign.Code != http.StatusNotFound || foreign.Code != unknown.Code || foreign.Body.String() != unknown.Body.String() {
				t.Errorf("%s: foreign %d %s, unknown %d %s", door, foreign.Code, foreign.Body, unknown.Code, unknown.Body)
			}
		}
	}
}

func TestGetChangesNothing(t *testing.T) {
	core := newFakeCore()
	s := New(core, Options{Token: testToken})
	before, last := core.snap, core.journal.Last()
	for _, rt := range s.routes() {
		if rt.method != http.MethodGet || rt.websocket {
			continue
		}
		serve(s, request(t, rt, bearer))
	}
	for _, path := range []string{"/debug/adsz?push=true", "/debug/cachez?clear=true", "/logout"} {
		w := serve(s, request(t, route{method: http.MethodGet, pattern: path}, bearer))
		if w.Code != http.StatusMethodNotAllowed {
			t.Errorf("GET %s: %d, want 405", path, w.Code)
		}
		if w := serve(s, request(t, route{method: http.MethodPost, pattern: path}, bearer)); w.Code >= 400 {
			t.Errorf("POST %s: %d %s", path, w.Code, w.Body)
		}
	}
	if core.snap != before || core.journal.Last() != last {
		t.Error("the core has changed")
	}
}
