package main

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

// fleet is all clients of a run, and what they count together.
type fleet struct {
	w     *world
	addr  string
	delta bool
	cs    []*client
	// a client whose stream ends waits 10 ms, 20 ms, ... up to this, +-50 %
	maxRetry time.Duration

	assignments assignments

	msgs, resources, bytes [2]atomic.Int64 // by type: 0 CDS, 1 EDS
	mismatches             atomic.Int64    // the set in a response differs from the one its marker stands for
	streamErrs             atomic.Int64
	removed                atomic.Int64
	firstMismatch          atomic.Pointer[string]

	// fullpush: when a client first saw the cluster and the subset cluster of a created service.
	fpMu   sync.Mutex
	fpCDS  map[int32][]int64 // service index -> per client, unix nanoseconds
	fpSub  map[int32][]int64
	fpGone map[int32][]int64
}

func newFleet(w *world, addr string, n int, delta bool) *fleet {
	f := &fleet{w: w, addr: addr, delta: delta, maxRetry: time.Second, assignments: assignments{seed: maphash.MakeSeed()}, fpCDS: map[int32][]int64{}, fpSub: map[int32][]int64{}, fpGone: map[int32][]int64{}}
	t := w.t
	for c := range n {
		k := int(int64(c) * int64(t.Services) * int64(t.Endpoints) / int64(n))
		i, j := k/t.Endpoints, k%t.Endpoints
		f.cs = append(f.cs, &client{
			f: f, id: c, ip: ipStr(t.podIP(i, j)), pod: t.pod(i, j), ns: t.ns(i), sa: "sa-" + t.svc(i), app: t.svc(i),
			node: t.node(k), region: t.region(k), zone: t.zone(k),
		})
	}
	return f
}

func (f *fleet) mismatch(s string) {
	f.mismatches.Add(1)
	f.firstMismatch.CompareAndSwap(nil, &s)
}

func (f *fleet) fpMark(m map[int32][]int64, si int32, client int, now time.Time) {
	f.fpMu.Lock()
	defer f.fpMu.Unlock()
	v := m[si]
	if v == nil {
		v = make([]int64, len(f.cs))
		m[si] = v
	}
	if v[client] == 0 {
		v[client] = now.UnixNano()
	}
}

// wrong returns how many (client, service) pairs hold another endpoint set than the API server.
func (f *fleet) wrong() (n int, first string) {
	for _, c := range f.cs {
		c.mu.Lock()
		for i := range f.w.nPerm {
			s := f.w.svcs[i]
			s.mu.Lock()
			want := s.want
			s.mu.Unlock()
			if !c.sub[i] || !c.got[i] || c.set[i] != want {
				if n == 0 {
					first = fmt.Sprintf("client %d (%s.%s) service %s.%s: subscribed=%v received=%v same=%v", c.id, c.pod, c.ns, s.name, s.ns, c.sub[i], c.got[i], c.set[i] == want)
				}
				n++
			}
		}
		c.mu.Unlock()
	}
	return n, first
}

// settle waits until every client holds the right set of every service.
func (f *fleet) settle(ctx context.Context, limit time.Duration) (n int, first string) {
	until(ctx, time.Now().Add(limit), 50*time.Millisecond, func() bool {
		n, first = f.wrong()
		return n == 0
	})
	return n, first
}

// connect starts all clients at once and waits until each has CDS and all its EDS.
func (f *fleet) connect(ctx context.Context, limit time.Duration) (lat []float64, missing int) {
	for _, c := range f.cs {
		c.start(ctx)
	}
	until(ctx, time.Now().Add(limit), 5*time.Millisecond, func() bool {
		missing = 0
		for _, c := range f.cs {
			if c.ready.Load() == 0 {
				missing++
			}
		}
		return missing == 0
	})
	for _, c := range f.cs {
		if r := c.ready.Load(); r != 0 {
			lat = append(lat, float64(r-c.started.Load())/1e6)
		}
	}
	return lat, missing
}

func (f *fleet) disconnect() {
	var wg sync.WaitGroup
	for _, c := range f.cs {
		wg.Go(c.stop)
	}
	wg.Wait()
}

// forget drops the updates of the last scenario.
func (f *fleet) forget() {
	for _, s := range f.w.svcs {
		s.mu.Lock()
	}
	for _, c := range f.cs {
		clear(c.next)
	}
	for _, s := range f.w.svcs {
		s.ups = nil
		s.mu.Unlock()
	}
	f.mismatches.Store(0)
	f.firstMismatch.Store(nil)
}
