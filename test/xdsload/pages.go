package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// fetcher gets debug pages and times them.
type fetcher struct {
	base, token, suffix string
	client              *http.Client

	mu    sync.Mutex // protects what follows
	pages map[string]*Page
	lat   map[string][]float64
}

func (r *runner) newFetcher(suffix string) *fetcher {
	// Bodies are asked for as curl does: inflating them would be the driver's time.
	plain := &http.Transport{DisableCompression: true}
	return &fetcher{
		base: r.debugURL, token: r.debugToken, suffix: suffix, client: &http.Client{Timeout: time.Minute, Transport: plain},
		pages: map[string]*Page{}, lat: map[string][]float64{},
	}
}

// get times one page. A page that fails is not asked for again at once.
func (f *fetcher) get(ctx context.Context, path string) {
	start := time.Now()
	n, err := f.read(ctx, path)
	took := float64(time.Since(start).Microseconds()) / 1e3
	f.note(path, n, took, err)
	if err != nil {
		pause(ctx, 100*time.Millisecond)
	}
}

func (f *fetcher) read(ctx context.Context, path string) (n int64, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.base+path, http.NoBody)
	if err != nil {
		return 0, fmt.Errorf("page %s: %w", path, err)
	}
	if f.token != "" {
		req.Header.Set("Authorization", "Bearer "+f.token)
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return 0, err // names the URL
	}
	defer func() { _ = resp.Body.Close() }() // it was read to its end
	if n, err = io.Copy(io.Discard, resp.Body); err != nil {
		return n, fmt.Errorf("page %s: %w", path, err)
	}
	if resp.StatusCode != http.StatusOK {
		return n, fmt.Errorf("page %s: status %s", path, resp.Status)
	}
	return n, nil
}

func (f *fetcher) note(path string, n int64, took float64, err error) {
	name, _, _ := strings.Cut(path, "?")
	name += f.suffix
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.pages[name]
	if p == nil {
		p = &Page{}
		f.pages[name] = p
	}
	if err != nil {
		p.Err = err.Error()
		return
	}
	p.Bytes = n
	f.lat[name] = append(f.lat[name], took)
}

func (f *fetcher) done() map[string]*Page {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n, p := range f.pages {
		p.Lat = dist(f.lat[n])
	}
	return f.pages
}

func (r *runner) debugOnly(ctx context.Context) *Result {
	res := &Result{Scenario: "debug", Clients: len(r.f.cs)}
	f := r.newFetcher("")
	s := newSampler(r.pid, r.others)
	for range 10 {
		for _, p := range r.paths {
			f.get(ctx, p)
		}
	}
	res.Usage = s.end()
	res.Pages = f.done()
	return res
}

// pagesInLoop gets all pages one after the other. The function that it returns ends
// that.
func (r *runner) pagesInLoop(ctx context.Context) (end func() map[string]*Page) {
	fetching, cancel := context.WithCancel(ctx)
	f := r.newFetcher("")
	var wg sync.WaitGroup
	wg.Go(func() {
		for fetching.Err() == nil {
			for _, p := range r.paths {
				f.get(ctx, p)
			}
		}
	})
	return func() map[string]*Page {
		cancel()
		wg.Wait()
		return f.done()
	}
}
