package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

func (r *runner) churn(ctx context.Context) *Result {
	res := &Result{Scenario: "churn", Clients: len(r.f.cs)}
	if r.debugURL != "" {
		f := &fetcher{base: r.debugURL, pages: map[string]*Page{}, lat: map[string][]float64{}, suffix: " (before)"}
		for i := 0; i < 5; i++ {
			for _, p := range r.paths {
				f.get(p)
			}
		}
		res.Pages = f.done()
		time.Sleep(time.Second)
	}
	total := int(r.rate * r.dur.Seconds())
	type job struct {
		s  *service
		si int
		n  int
	}
	jobs := make(chan job, total)
	var wg sync.WaitGroup
	var lastN atomic.Int64
	for i := 0; i < r.workers; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := range jobs {
				u := r.w.change(ctx, j.s, j.si, len(r.f.cs), r.op(j.n))
				for t := u.sent.UnixNano(); ; {
					o := lastN.Load()
					if o >= t || lastN.CompareAndSwap(o, t) {
						break
					}
				}
			}
		}()
	}
	stop, dwg := make(chan struct{}), sync.WaitGroup{}
	var during *fetcher
	c0, s := r.counters(), newSampler(r.pid, r.others)
	if r.debugURL != "" {
		// 4 times during the churn, each page once: enough to see its latency, too few to be the load.
		during = &fetcher{base: r.debugURL, pages: map[string]*Page{}, lat: map[string][]float64{}, suffix: " (during churn)"}
		dwg.Add(1)
		go func() {
			defer dwg.Done()
			for i := 0; i < 4; i++ {
				select {
				case <-stop:
					return
				case <-time.After(r.dur / 5):
				}
				for _, p := range r.paths {
					during.get(p)
				}
			}
		}()
	}
	perm := r.rnd.Perm(r.w.t.Services)
	start := time.Now()
	for i := 0; i < total; i++ {
		if d := time.Duration(float64(i)/r.rate*1e9) - time.Since(start); d > 0 {
			time.Sleep(d)
		}
		sv := r.w.svcs[perm[i%len(perm)]]
		jobs <- job{sv, r.rnd.Intn(len(sv.slices)), i + i/len(perm)}
	}
	close(jobs)
	wg.Wait()
	took := time.Since(start).Seconds()
	r.finish(res, c0, s, time.Unix(0, lastN.Load()))
	close(stop)
	dwg.Wait()
	if during != nil {
		for n, p := range during.done() {
			res.Pages[n] = p
		}
	}
	res.RateDone = float64(res.Updates) / took
	return res
}
