package server

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/edsight/edsight/core/debugz"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// findings are istiod's gauges of what a push finds wrong: how many keys push_status
// has of each metric.
type findings struct {
	snapshot func() *state.Snapshot
	desc     map[string]*prometheus.Desc

	mu      sync.Mutex // protects what follows
	version uint64     // that was counted last
	counts  map[string]int
}

func newFindings(snapshot func() *state.Snapshot) *findings {
	f := &findings{snapshot: snapshot, desc: map[string]*prometheus.Desc{}}
	for name, help := range debugz.PushMetrics() {
		f.desc[name] = prometheus.NewDesc(name, help, nil, nil)
	}
	return f
}

// Describe implements prometheus.Collector.
func (f *findings) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range f.desc {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (f *findings) Collect(ch chan<- prometheus.Metric) {
	counts := f.count()
	for name, d := range f.desc {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(counts[name]))
	}
}

// count looks at a snapshot once.
func (f *findings) count() map[string]int {
	snap := f.snapshot()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counts == nil || f.version != snap.Version {
		f.version, f.counts = snap.Version, map[string]int{}
		for name, found := range debugz.Status(snap) {
			f.counts[name] = len(found)
		}
	}
	return f.counts
}

func virtualServices(snap *state.Snapshot) int {
	n := 0
	for range snap.Configs(model.KindVirtualService) {
		n++
	}
	return n
}
