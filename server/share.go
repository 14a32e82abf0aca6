package server

import (
	"io"
	"net/http"
	"runtime"
)

// cores are what answers share: a token per core that they may take at a time. One
// core is left for who writes the state and pushes it, however many read, and where
// others want the cores too, the kernel prefers those who write (see aside).
type cores chan struct{}

func newCores() cores { return make(cores, max(1, runtime.GOMAXPROCS(0)-1)) }

func (c cores) enter() { c <- struct{}{} }
func (c cores) leave() { <-c }

// without gives the core back while f waits for somebody else, who may be slow.
func (c cores) without(f func()) {
	c.leave()
	defer c.enter()
	f()
}

// share makes an answer wait for a core. It gives the core back while it waits for
// the client, who may be slow, and makes none for a client who has gone meanwhile.
func (c cores) share(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case c <- struct{}{}:
		case <-r.Context().Done():
			return
		}
		defer c.leave()
		r.Body = &sharedBody{ReadCloser: r.Body, cores: c}
		aside(func() { next.ServeHTTP(&sharedWriter{ResponseWriter: w, cores: c}, r) })
	})
}

type sharedWriter struct {
	http.ResponseWriter
	cores cores
}

func (w *sharedWriter) Write(p []byte) (int, error) {
	w.cores.leave()
	defer w.cores.enter()
	return w.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (w *sharedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

type sharedBody struct {
	io.ReadCloser
	cores cores
}

func (b *sharedBody) Read(p []byte) (int, error) {
	b.cores.leave()
	defer b.cores.enter()
	return b.ReadCloser.Read(p)
}
