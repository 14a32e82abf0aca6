package bench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/edsight/edsight/core/journal"
)

const (
	largeServices = 2000
	largePods     = 25
	requests      = 50  // of each page
	flips         = 200 // of an endpoint, for the writer's latency
	readers       = 4
)

// pages are all kinds of pages, and the two large bodies of JSON.
var pages = []string{
	"/", "/transitions/1", "/services", "/services?q=svc-19", "/services/shop/svc-7.shop.svc.cluster.local", "/proxies",
	"/proxies/svc-7-3.shop", "/proxies/svc-7-3.shop/compare?with=svc-8-3.shop", "/pushes", "/slices", "/config", "/clusters", "/snapshots",
	"/waiting", "/search?q=10.1.7.7", "/explain?address=10.1.7.7",
	"/explain?proxy=svc-7-3.shop&host=svc-8.shop.svc.cluster.local&port=80", "/debug/edsz?proxyID=svc-7-3.shop",
}

var bodies = []string{"/debug/registryz", "/debug/endpointShardz"}

// BenchmarkScale runs the program on a cluster of 2,000 services with 25 Pods
// each, every one of which has a proxy, and prints a table.
func BenchmarkScale(b *testing.B) {
	k, all := newMesh(b, largeServices, largePods)
	m := &measure{client: k.Client, slices: all}
	for b.Loop() {
		var t table
		p := launch(b, k)
		took := p.ready(b)
		t.add("start to ready", "%.1f s", took.Seconds())
		t.add("peak resident memory of the start", "%.0f MiB", p.memory(b, "VmHWM"))
		t.add("resident memory when ready", "%.0f MiB", p.memory(b, "VmRSS"))
		b.ReportMetric(took.Seconds(), "ready-s")
		b.ReportMetric(p.memory(b, "VmHWM"), "peak-MiB")
		for _, path := range bodies {
			p.body(b, &t, path)
		}
		for _, path := range pages {
			p.times(b, &t, path)
		}
		other := launch(b, k)
		other.ready(b)
		p.writer(b, &t, "without readers", m, nil)
		p.writer(b, &t, fmt.Sprintf("with %d readers in a loop", readers), m, p)
		p.writer(b, &t, fmt.Sprintf("with %d readers of another program in a loop", readers), m, other)
		t.add("resident memory at the end", "%.0f MiB", p.memory(b, "VmRSS"))
		t.add("heap at the end", "%.0f MiB", p.heap(b))
		// A benchmark's own log is cut after some lines.
		fmt.Fprintf(os.Stderr, "%d services with %d endpoints each\n%s", largeServices, largePods, t.String())
	}
}

// table is what was measured.
type table struct{ strings.Builder }

func (t *table) add(what, format string, values ...any) {
	fmt.Fprintf(&t.Builder, "| %s | %s |\n", what, fmt.Sprintf(format, values...))
}

// body measures one large answer.
func (p *program) body(b *testing.B, t *table, path string) {
	b.Helper()
	var delays []time.Duration
	before := p.memory(b, "VmRSS")
	p.forgetPeak(b)
	size := 0
	for range 5 {
		begin := time.Now()
		content, err := p.page(b.Context(), path)
		if err != nil {
			b.Fatal(err)
		}
		delays = append(delays, time.Since(begin))
		size = len(content)
	}
	slices.Sort(delays)
	t.add(path, "%d ms, %.0f MiB of JSON, memory %.0f MiB before and %.0f MiB at most", delays[len(delays)/2].Milliseconds(),
		float64(size)/(1<<20), before, p.memory(b, "VmHWM"))
}

// times measures a page.
func (p *program) times(b *testing.B, t *table, path string) {
	b.Helper()
	var delays []time.Duration
	for range requests {
		begin := time.Now()
		if _, err := p.page(b.Context(), path); err != nil {
			b.Fatal(err)
		}
		delays = append(delays, time.Since(begin))
	}
	t.add(path, "p50 %s, p99 %s", ms(at(delays, 0.5)), ms(at(delays, 0.99)))
}

// at is a quantile; it sorts.
func at(delays []time.Duration, q float64) time.Duration {
	slices.Sort(delays)
	return delays[int(q*float64(len(delays)-1))]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

// writer measures from when a changed slice was seen to the published state, and
// how much of this is the turn of the writer, while readers take all they get from
// a program. What they take from another one is what they cost the machine.
func (p *program) writer(b *testing.B, t *table, what string, m *measure, from *program) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	var reading sync.WaitGroup
	all := slices.Concat(bodies, pages)
	for n := range readers {
		reading.Go(func() {
			for i := n; from != nil && ctx.Err() == nil; i++ {
				_, _ = from.page(ctx, all[i%len(all)]) // it ends with ctx
			}
		})
	}
	next := p.last(b)
	for n := range flips {
		if _, err := m.flip(b.Context(), n); err != nil {
			b.Fatal(err)
		}
	}
	var total, turn []time.Duration
	for seen := 0; seen < flips; {
		batch := p.since(b, next)
		next = batch.Next
		for _, tr := range batch.Transitions {
			for i := range tr.Causes {
				seen += tr.Causes[i].Merged
			}
			total = append(total, tr.Times.Published.Sub(tr.Times.Seen))
			turn = append(turn, tr.Times.Published.Sub(tr.Times.Drained))
		}
	}
	cancel()
	reading.Wait()
	t.add("writer "+what+": seen to published", "p50 %s, p99 %s", ms(at(total, 0.5)), ms(at(total, 0.99)))
	t.add("writer "+what+": the turn itself", "p50 %s, p99 %s", ms(at(turn, 0.5)), ms(at(turn, 0.99)))
}

// transitions is an answer of /api/v1/transitions.
type transitions struct {
	Transitions []struct {
		Causes []journal.Cause `json:"causes"`
		Times  journal.Times   `json:"times"`
	} `json:"transitions"`
	Next uint64 `json:"next"`
}

// since gets the transitions from a sequence number on.
func (p *program) since(b *testing.B, seq uint64) transitions {
	b.Helper()
	body, err := p.fetch(b.Context(), fmt.Sprintf("%s/api/v1/transitions?since=%d", p.url, seq), "application/json")
	if err != nil {
		b.Fatal(err)
	}
	var t transitions
	if err := json.Unmarshal(body, &t); err != nil {
		b.Fatal(err)
	}
	return t
}

// last is the sequence number of the next transition that comes.
func (p *program) last(b *testing.B) uint64 {
	b.Helper()
	for seq := uint64(1); ; {
		next := p.since(b, seq).Next
		if next == seq {
			return seq
		}
		seq = next
	}
}
