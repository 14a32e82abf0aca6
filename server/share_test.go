package server

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// TestSlowClientHoldsNoCore: while one client does not read and another does not
// send, the only core is free for a third.
func TestSlowClientHoldsNoCore(t *testing.T) {
	c := cores(make(chan struct{}, 1))
	h := c.share(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(w, r.Body); err != nil {
			t.Error(err)
		}
	}))
	body, client := io.Pipe()
	release := make(chan struct{})
	waiting := make(chan struct{})
	var slow sync.WaitGroup
	slow.Go(func() { h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", body)) })
	slow.Go(func() {
		w := &stuckWriter{ResponseRecorder: httptest.NewRecorder(), waiting: waiting, release: release}
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader("b")))
	})
	<-waiting
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader("c")))
	if w.Body.String() != "c" {
		t.Errorf("got %q", w.Body)
	}
	close(release)
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	slow.Wait()
	if len(c) != 0 {
		t.Errorf("%d cores are still taken", len(c))
	}
}

// TestCoresAreShared: no more answers are made at a time than there are cores.
func TestCoresAreShared(t *testing.T) {
	c := cores(make(chan struct{}, 1))
	running := 0 // the race detector sees two at a time
	h := c.share(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { running++ }))
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)) })
	}
	all.Wait()
	if running != 20 {
		t.Errorf("%d of 20 were answered", running)
	}
}

type stuckWriter struct {
	*httptest.ResponseRecorder
	waiting, release chan struct{}
}

func (w *stuckWriter) Write(p []byte) (int, error) {
	close(w.waiting)
	<-w.release
	return w.ResponseRecorder.Write(p)
}

// TestSlowIstiodHoldsNoCore: while istiod is asked, the only core is free for others,
// no more than a few ask, and probes do not wait even for those who compute.
func TestSlowIstiodHoldsNoCore(t *testing.T) {
	asked, release := make(chan struct{}), make(chan struct{})
	s := New(newFakeCore(), Options{Token: testToken, Istiod: func(context.Context, string) ([]byte, error) {
		asked <- struct{}{}
		<-release
		return []byte(edsz("10.0.0.1")), nil
	}})
	s.cores = make(chan struct{}, 1)
	h := s.Handler()
	get := func(path string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		r.Host = "localhost:8080"
		bearer(r)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	var slow sync.WaitGroup
	for range maxAsking {
		slow.Go(func() { get(comparePath + ".json?istiod=true") })
		<-asked
	}
	if w := get("/services.json"); w.Code != http.StatusOK {
		t.Errorf("another page: %d", w.Code)
	}
	if w := get(comparePath + ".json?istiod=true"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("one more question: %d", w.Code)
	}
	s.cores.enter()
	for _, path := range []string{"/healthz", "/readyz"} {
		if w := get(path); w.Code != http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	s.cores.leave()
	close(release)
	slow.Wait()
	if len(s.cores) != 0 || len(s.asking) != 0 {
		t.Errorf("%d cores and %d questions are still taken", len(s.cores), len(s.asking))
	}
}

// TestNothingIsMadeForWhoLeft while it waited for a core.
func TestNothingIsMadeForWhoLeft(t *testing.T) {
	c := cores(make(chan struct{}, 1))
	h := c.share(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("an answer is made") }))
	c.enter()
	ctx, leave := context.WithCancel(t.Context())
	leave()
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody))
	if len(c) != 1 {
		t.Errorf("%d cores are taken, want that of the test", len(c))
	}
}
