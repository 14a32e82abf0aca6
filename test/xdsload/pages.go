package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// fetcher gets debug pages and times them.
type fetcher struct {
	base, suffix string
	mu           sync.Mutex
	pages        map[string]*Page
	lat          map[string][]float64
}

var httpc = &http.Client{Timeout: 60 * time.Second}

func (f *fetcher) get(path string) {
	name := strings.SplitN(path, "?", 2)[0] + f.suffix
	a := time.Now()
	var n int64
	resp, err := httpc.Get(f.base + path)
	if err == nil {
		n, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if err == nil && resp.StatusCode != 200 {
			err = fmt.Errorf("status %s", resp.Status)
		}
	}
	d := float64(time.Since(a).Microseconds()) / 1e3
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.pages[name]
	if p == nil {
		p = &Page{}
		f.pages[name] = p
	}
	if err != nil {
		p.Err = err.Error()
		time.Sleep(100 * time.Millisecond)
		return
	}
	p.Bytes = n
	f.lat[name] = append(f.lat[name], d)
}

func (f *fetcher) done() map[string]*Page {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n, p := range f.pages {
		p.Lat = dist(f.lat[n])
	}
	return f.pages
}

func (r *runner) debugOnly() *Result {
	res := &Result{Scenario: "debug", Clients: len(r.f.cs)}
	f := &fetcher{base: r.debugURL, pages: map[string]*Page{}, lat: map[string][]float64{}}
	s := newSampler(r.pid, r.others)
	for i := 0; i < 10; i++ {
		for _, p := range r.paths {
			f.get(p)
		}
	}
	res.Usage = s.end()
	res.Pages = f.done()
	return res
}
