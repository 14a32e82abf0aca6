package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/model"
	xds "github.com/edsight/edsight/core/session"
)

// fakeProxies is a list of connected proxies.
type fakeProxies struct {
	list   []xds.Session
	ended  []string
	pushes int
}

func (f *fakeProxies) Sessions() []xds.Session { return f.list }

func (f *fakeProxies) Names(id string) map[string][]string {
	return map[string][]string{"eds": {"names of " + id}}
}

func (f *fakeProxies) Disconnect(id string) int {
	f.ended = append(f.ended, id)
	return 1
}

func (f *fakeProxies) Push() { f.pushes++ }

func newFakeProxies() *fakeProxies {
	one := func(id, namespace string) xds.Session {
		return xds.Session{ID: id + "-1", Proxy: id, Node: xds.Node{Pod: model.ObjectKey{Cluster: "Kubernetes", Namespace: namespace}}}
	}
	return &fakeProxies{list: []xds.Session{one("a.shop", "shop"), one("b.bank", "bank"), one("web-0.shop", "shop")}}
}

func TestConnectedProxies(t *testing.T) {
	f := newFakeProxies()
	s := newTestServer(t, newFakeCore(), Options{Proxies: f, Token: testToken})
	admin := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+testToken) }
	for _, c := range []struct{ method, path, has, hasNot string }{
		{"GET", "/debug/syncz", `"proxy":"b.bank"`, ""},
		{"GET", "/debug/syncz?namespace=shop", `"proxy":"a.shop"`, "bank"},
		{"GET", "/debug/connections", `"totalClients":3`, "watches"},
		{"GET", "/debug/adsz", `"names of a.shop-1"`, ""},
		{"GET", "/api/v1/proxies/web-0.shop", `"connected":true`, `"connected":false`},
		{"POST", "/debug/adsz?push=true", "Pushed to 3 servers", ""},
		{"POST", "/debug/force_disconnect?proxyID=a.shop", "OK", ""},
	} {
		a := do(t, client(), c.method, s.url+c.path, admin)
		if a.StatusCode != http.StatusOK || !strings.Contains(a.body, c.has) || (c.hasNot != "" && strings.Contains(a.body, c.hasNot)) {
			t.Errorf("%s %s: %d %s, want %s and not %q", c.method, c.path, a.StatusCode, a.body, c.has, c.hasNot)
		}
	}
	if f.pushes != 1 || !slices.Equal(f.ended, []string{"a.shop-1"}) {
		t.Errorf("%d pushes, ended %v", f.pushes, f.ended)
	}
	if a := do(t, client(), "POST", s.url+"/debug/force_disconnect?proxyID=nobody", admin); a.StatusCode != http.StatusNotFound {
		t.Errorf("a proxy that is not connected: %d", a.StatusCode)
	}
	if a := do(t, client(), "GET", s.url+"/debug/adsz?push=true", admin); a.StatusCode != http.StatusMethodNotAllowed || f.pushes != 1 {
		t.Errorf("a push by GET: %d", a.StatusCode)
	}
}

// TestDebugByAnotherDoor asks as istioctl does, with the rights of each caller.
func TestDebugByAnotherDoor(t *testing.T) {
	s := New(newFakeCore(), Options{Proxies: newFakeProxies()})
	root, shop, nobody := Caller{Name: "root", All: true}, Caller{Name: "shop", Namespaces: []string{"shop"}}, Caller{}
	for _, c := range []struct {
		who       Caller
		name, has string
		denied    bool
	}{
		{root, "registryz", "web.shop.svc.cluster.local", false},
		{root, "edsz?proxyID=web-0.other", `"configs"`, false},
		{root, "edsz", "You must provide a proxyID", false},
		{root, "cachez", "", false},
		{root, "nothing", "", true},
		{root, "%zz", "", true},
		{root, "../metrics", "", true},
		{root, "list", `"edsz"`, false},
		{shop, "registryz", "", true},
		{shop, "edsz?proxyID=web-0.shop", `"configs"`, false},
		{shop, "edsz?proxyID=web-0.other", "Proxy not connected", false},
		{shop, "force_disconnect?proxyID=a.shop", "", true},
		{nobody, "edsz?proxyID=web-0.shop", "", true},
		{nobody, "registryz", "", true},
	} {
		body, err := s.Debug(t.Context(), c.who, c.name)
		if (err != nil) != c.denied || !strings.Contains(string(body), c.has) {
			t.Errorf("%s for %q: %.80s, %v", c.name, c.who.Name, body, err)
		}
	}
	for name, there := range map[string]bool{"nothing": false, "": false, "%zz": false, "../metrics": false, "force_disconnect?proxyID=a.shop": false, "registryz": true} {
		if _, err := s.Debug(t.Context(), shop, name); errors.Is(err, ErrNoHandler) == there {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := s.Debug(t.Context(), root, "edz"); err == nil || !strings.Contains(err.Error(), `"edz"; there are adsz, cachez`) || strings.Contains(err.Error(), "force_disconnect") {
		t.Errorf("what there is, is not said: %v", err)
	}
}

// TestDebugFails: a handler that panics, or breaks its answer off, ends neither the
// program nor in half an answer, and gives its core back.
func TestDebugFails(t *testing.T) {
	core := newFakeCore()
	s := New(core, Options{})
	core.snap = nil
	body, err := s.Debug(t.Context(), Caller{Name: "root", All: true}, "registryz")
	if body != nil || !errors.Is(err, ErrNotAnswered) {
		t.Errorf("after a panic: %q, %v", body, err)
	}
	broken := s.stream(func(*http.Request) (piecewise, error) {
		return func(w io.Writer, _ string) error {
			if _, err := io.WriteString(w, "[1,"); err != nil {
				return err
			}
			return errors.New("no more")
		}, nil
	})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/debug/registryz", http.NoBody)
	if body, err := s.answer(&route{handle: broken}, r); body != nil || !errors.Is(err, ErrNotAnswered) {
		t.Errorf("broken off: %q, %v", body, err)
	}
	if len(s.cores) != 0 || len(s.large.held) != 0 {
		t.Errorf("%d cores and %d seats are still taken", len(s.cores), len(s.large.held))
	}
	for range cap(s.cores) {
		s.cores.enter()
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if body, err := s.Debug(ctx, Caller{Name: "root", All: true}, "cachez"); body != nil || !errors.Is(err, ErrNotAnswered) {
		t.Errorf("without a core: %q, %v", body, err)
	}
}
