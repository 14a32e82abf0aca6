package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/edsight/edsight/server"
)

// within is an Edsight within this program, over manifests or an archive. It answers
// with the code of the one that serves.
func within(ctx context.Context, from string, mesh *meshFlags, log io.Writer) (*edsight, error) {
	opts := server.Options{Token: rand.Text(), Version: programVersion()}
	core, err := settled(ctx, from, mesh, log, &opts)
	if err != nil {
		return nil, err
	}
	handler := server.New(core, opts).Handler()
	return &edsight{
		name: from, base: &url.URL{Scheme: "http", Host: "localhost"}, token: opts.Token,
		client: &http.Client{Transport: calls{handler}},
	}, nil
}

// settled is a core that stands still.
func settled(ctx context.Context, from string, mesh *meshFlags, log io.Writer, opts *server.Options) (server.Core, error) {
	if !isArchive(from) {
		core, src, err := mesh.settled(ctx, from, log)
		opts.Objects = src
		return core, err
	}
	if mesh.given() {
		return nil, errMeshOfArchive
	}
	c, err := openArchive(from)
	if err != nil {
		return nil, err
	}
	opts.Exported = c.Header.Created
	return newFrozen(c), nil
}

// calls answers requests by calling the handler.
type calls struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (c calls) RoundTrip(r *http.Request) (*http.Response, error) {
	w := &answer{header: http.Header{}, code: http.StatusOK}
	c.handler.ServeHTTP(w, r)
	return &http.Response{
		Status: strconv.Itoa(w.code) + " " + http.StatusText(w.code), StatusCode: w.code, Header: w.header, Body: io.NopCloser(&w.body), Request: r,
	}, nil
}

// answer is what a handler wrote.
type answer struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(code int) { a.code = code }

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }
