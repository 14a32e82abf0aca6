package main

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// latest is the latest of the times that several goroutines note.
type latest struct{ nanos atomic.Int64 }

func (l *latest) note(t time.Time) {
	for n := t.UnixNano(); ; {
		have := l.nanos.Load()
		if have >= n || l.nanos.CompareAndSwap(have, n) {
			return
		}
	}
}

func (l *latest) time() time.Time { return time.Unix(0, l.nanos.Load()) }

// churn changes slices at a high rate, one service after the other in a random order,
// while read gets pages.
func (r *runner) churn(ctx context.Context, read func(context.Context) (end func() map[string]*Page)) *Result {
	res := &Result{Scenario: "churn", Clients: len(r.f.cs), Pages: r.pagesBefore(ctx)}
	total := int(r.rate * r.dur.Seconds())
	type job struct {
		s  *service
		si int
		n  int
	}
	jobs := make(chan job, total)
	var wg sync.WaitGroup
	var last latest
	for range r.workers {
		wg.Go(func() {
			for j := range jobs {
				last.note(r.w.change(ctx, j.s, j.si, len(r.f.cs), r.op(j.n)).sent)
			}
		})
	}
	c0, s := r.counters(), newSampler(r.pid, r.others)
	pages := read(ctx)
	perm := r.rnd.Perm(r.w.t.Services)
	start := time.Now()
	paced(ctx, total, r.rate, func(i int) {
		sv := r.w.svcs[perm[i%len(perm)]]
		jobs <- job{sv, r.rnd.Intn(len(sv.slices)), i + i/len(perm)}
	})
	close(jobs)
	wg.Wait()
	took := time.Since(start).Seconds()
	r.finish(ctx, res, c0, s, last.time())
	maps.Copy(res.Pages, pages())
	res.RateDone = float64(res.Updates) / took
	return res
}

func (r *runner) pagesBefore(ctx context.Context) map[string]*Page {
	if r.debugURL == "" {
		return map[string]*Page{}
	}
	f := r.newFetcher(" (before)")
	for range 5 {
		for _, p := range r.paths {
			f.get(ctx, p)
		}
	}
	pause(ctx, time.Second)
	return f.done()
}

// pagesDuring gets each page 4 times during the churn: enough to see how long it
// takes, too few to be the load. The function that it returns ends that.
func (r *runner) pagesDuring(ctx context.Context) (end func() map[string]*Page) {
	if r.debugURL == "" {
		return func() map[string]*Page { return nil }
	}
	ctx, cancel := context.WithCancel(ctx)
	f := r.newFetcher(" (during churn)")
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 4 {
			if pause(ctx, r.dur/5); ctx.Err() != nil {
				return
			}
			for _, p := range r.paths {
				f.get(context.WithoutCancel(ctx), p)
			}
		}
	})
	return func() map[string]*Page {
		cancel()
		wg.Wait()
		return f.done()
	}
}
