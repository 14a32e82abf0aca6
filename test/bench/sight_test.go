package bench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
)

// sight is what a reader saw: when the transition came whose causes name a
// version of a slice.
type sight struct {
	mu     sync.Mutex // protects all below
	at     map[string]time.Time
	merged int           // versions that shared a transition with another
	news   chan struct{} // closed and replaced when something is seen
}

func newSight() *sight { return &sight{at: map[string]time.Time{}, news: make(chan struct{})} }

// see notes the versions that one transition names.
func (s *sight) see(at time.Time, versions []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range versions {
		s.at[v] = at
	}
	if len(versions) > 1 {
		s.merged += len(versions)
	}
	close(s.news)
	s.news = make(chan struct{})
}

// wait returns when a version was seen.
func (s *sight) wait(ctx context.Context, version string) (time.Time, error) {
	for {
		s.mu.Lock()
		at, seen := s.at[version]
		news := s.news
		s.mu.Unlock()
		if seen {
			return at, nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("version %s was never seen: %w", version, ctx.Err())
		}
	}
}

func (s *sight) mergedSoFar() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.merged
}

// readJournal notes what a reader in the same process sees.
func readJournal(ctx context.Context, j *journal.Journal, s *sight) {
	next := j.Last() + 1
	for j.Wait(ctx, next) == nil {
		at := time.Now()
		batch := j.Since(next, 100)
		next = batch.Next
		for _, t := range batch.Transitions {
			s.see(at, versions(t.Causes))
		}
	}
}

// readFrames notes what a client of the websocket sees.
func readFrames(conn *websocket.Conn, s *sight) {
	var f struct {
		Transition struct {
			Causes []journal.Cause `json:"causes"`
		} `json:"transition"`
	}
	for {
		_, body, err := conn.ReadMessage()
		if err != nil {
			return // it was closed
		}
		at := time.Now()
		f.Transition.Causes = nil
		if json.Unmarshal(body, &f) == nil {
			s.see(at, versions(f.Transition.Causes))
		}
	}
}

func versions(causes []journal.Cause) []string {
	var all []string
	for i := range causes {
		c := &causes[i]
		if c.Key.Kind != model.KindEndpointSlice {
			continue
		}
		if len(c.ResourceVersions) == 0 {
			all = append(all, c.ResourceVersion)
		}
		all = append(all, c.ResourceVersions...)
	}
	return all
}

// report prints the distribution of some delays as metrics of the benchmark.
func report(b *testing.B, what string, delays []time.Duration) {
	b.Helper()
	if len(delays) == 0 {
		b.Fatalf("nothing was measured of %s", what)
	}
	slices.Sort(delays)
	at := func(q float64) float64 {
		return float64(delays[int(q*float64(len(delays)-1))].Microseconds()) / 1000
	}
	b.ReportMetric(at(0.5), what+"-p50-ms")
	b.ReportMetric(at(0.99), what+"-p99-ms")
	b.ReportMetric(at(1), what+"-max-ms")
}
