package server

import (
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
