package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHostIsChecked(t *testing.T) {
	s := New(newFakeCore(), Options{Hosts: []string{"edsight.example.com"}})
	for host, want := range map[string]int{
		"localhost": 200, "localhost:8080": 200, "LOCALHOST:8080": 200, "localhost:9999": 200,
		"127.0.0.1:8080": 200, "[::1]:8080": 200, "[::1]": 200, "edsight.example.com": 200, "Edsight.Example.com:443": 200,
		"evil.example": 421, "": 421, "null": 421, "localhost.:8080": 421, "localhost.evil.example": 421,
		"127.0.0.1.evil.example": 421, "10.0.0.1:8080": 421, "[::1].evil": 421, "evil.example:8080": 421,
		"localhost:8080@evil.example": 421,
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/healthz", http.NoBody)
		r.Host = host
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("host %q: %d, want %d", host, w.Code, want)
		}
	}
}

func TestOriginIsChecked(t *testing.T) {
	s := New(newFakeCore(), Options{Token: testToken})
	for _, tt := range []struct {
		name, host, origin string
		bearer             bool
		allowed            bool
	}{
		{name: "own", origin: "http://localhost:8080", allowed: true},
		{name: "own with token", origin: "http://localhost:8080", bearer: true, allowed: true},
		{name: "evil", origin: "http://evil.example"},
		{name: "evil with token", origin: "http://evil.example", bearer: true},
		{name: "null", origin: "null"},
		{name: "missing"},
		{name: "missing with token", bearer: true, allowed: true},
		{name: "another localhost port", origin: "http://localhost:9999"},
		{name: "another name of this machine", origin: "http://127.0.0.1:8080"},
		{name: "another scheme", origin: "https://localhost:8080"},
		{name: "trailing dot", origin: "http://localhost.:8080"},
		{name: "upper case", origin: "HTTP://LOCALHOST:8080"},
		{name: "upper case host", host: "LOCALHOST:8080", origin: "http://localhost:8080", allowed: true},
		{name: "own by IPv6", host: "[::1]:8080", origin: "http://[::1]:8080", allowed: true},
		{name: "prefix", origin: "http://localhost:80800"},
	} {
		for _, door := range []struct{ method, path, upgrade string }{
			{http.MethodPost, "/logout", ""}, {http.MethodGet, "/ws", "websocket"}, {http.MethodDelete, "/", ""},
		} {
			t.Run(tt.name+" "+door.method, func(t *testing.T) {
				r := httptest.NewRequestWithContext(t.Context(), door.method, door.path, http.NoBody)
				r.Host = "localhost:8080"
				if tt.host != "" {
					r.Host = tt.host
				}
				if tt.origin != "" {
					r.Header.Set("Origin", tt.origin)
				}
				if tt.bearer {
					bearer(r)
				}
				if door.upgrade != "" {
					r.Header.Set("Upgrade", door.upgrade)
				}
				w := httptest.NewRecorder()
				s.Handler().ServeHTTP(w, r)
				if refused := w.Code == http.StatusForbidden; refused == tt.allowed {
					t.Errorf("%d %s, want it allowed: %t", w.Code, w.Body, tt.allowed)
				}
			})
		}
	}
}

func TestOtherSitesAreRefused(t *testing.T) {
	s := New(newFakeCore(), Options{})
	for site, want := range map[string]int{"": 200, "none": 200, "same-origin": 200, "same-site": 200, "cross-site": 403} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/healthz", http.NoBody)
		r.Host = "localhost"
		r.Header.Set("Sec-Fetch-Site", site)
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("Sec-Fetch-Site %q: %d, want %d", site, w.Code, want)
		}
		csp := w.Header().Get("Content-Security-Policy")
		for _, directive := range []string{"default-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
			if !strings.Contains(csp, directive) {
				t.Errorf("policy %q lacks %q", csp, directive)
			}
		}
	}
}

func TestCheckBind(t *testing.T) {
	for _, tt := range []struct {
		addr string
		bind Bind
		ok   bool
	}{
		{addr: "127.0.0.1:8080", ok: true},
		{addr: "127.9.9.9:8080", ok: true},
		{addr: "[::1]:8080", ok: true},
		{addr: "LocalHost:8080", bind: Bind{OpenDebug: true}, ok: true},
		{addr: ":8080"},
		{addr: "0.0.0.0:8080"},
		{addr: "[::]:8080"},
		{addr: "localhost.evil.example:8080"},
		{addr: "10.0.0.1:8080", bind: Bind{TLS: true}, ok: true},
		{addr: "10.0.0.1:8080", bind: Bind{TLS: true, OpenDebug: true}},
		{addr: "10.0.0.1:8080", bind: Bind{Insecure: true}, ok: true},
		{addr: "no port"},
	} {
		if err := CheckBind(tt.addr, tt.bind); (err == nil) != tt.ok {
			t.Errorf("CheckBind(%q, %+v) = %v, want ok: %t", tt.addr, tt.bind, err, tt.ok)
		}
	}
}

func TestAuthorize(t *testing.T) {
	viewer := identity{role: roleViewer, namespaces: []string{"shop"}}
	for _, tt := range []struct {
		id        identity
		action    action
		namespace string
		want      bool
	}{
		{identity{}, actionRead, "shop", false},
		{identity{}, actionRead, "", false},
		{viewer, actionRead, "shop", true},
		{viewer, actionRead, "other", false},
		{viewer, actionRead, "", false},
		{viewer, actionWrite, "shop", false},
		{identity{role: roleReader}, actionRead, "", true},
		{identity{role: roleReader}, actionWrite, "", false},
		{identity{role: roleAdmin}, actionRead, "other", true},
		{identity{role: roleAdmin}, actionWrite, "", true},
		{identity{role: roleAdmin + 1}, actionRead, "", false},
	} {
		if got := authorize(tt.id, tt.action, tt.namespace); got != tt.want {
			t.Errorf("authorize(%s, %d, %q) = %t", tt.id.role, tt.action, tt.namespace, got)
		}
	}
}
