package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are those of one server, in a registry of its own.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	frames   prometheus.Counter
	gaps     prometheus.Counter
}

func newMetrics(s *Server) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "edsight_http_request_duration_seconds", Help: "Time to answer a request, by route and status.",
			Buckets: []float64{0.001, 0.005, 0.025, 0.1, 0.5, 2, 10},
		}, []string{"route", "status"}),
		frames: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "edsight_live_frames_total", Help: "Transitions sent to live readers, counted per reader.",
		}),
		gaps: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "edsight_live_gaps_total", Help: "Gaps of which live readers were told.",
		}),
	}
	m.registry.MustRegister(m.requests, m.frames, m.gaps,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), newFindings(s.core.Snapshot))
	m.registry.MustRegister(s.opts.Collectors...)
	m.gauges(map[string]gauge{
		"edsight_ready":              {"Whether the first complete state is there.", func() float64 { return boolean(s.core.Status().Ready) }},
		"edsight_waiting_objects":    {"Changed objects not yet looked at.", func() float64 { return float64(s.core.Status().Waiting) }},
		"edsight_snapshot_version":   {"Version of the newest snapshot.", func() float64 { return float64(s.core.Snapshot().Version) }},
		"edsight_waiting_candidates": {"Candidates that wait for their Pod or Service.", func() float64 { return float64(waitingCount(s.core.Snapshot())) }},
		"edsight_orphans":            {"Endpoints in shards whose object is not there; must be 0.", func() float64 { return float64(len(s.orphans(s.core.Snapshot()))) }},
		"edsight_services":           {"Services in the newest snapshot.", func() float64 { return float64(s.core.Snapshot().ServiceCount()) }},
		"edsight_proxies":            {"Proxies in the newest snapshot.", func() float64 { return float64(s.core.Snapshot().ProxyCount()) }},
		"edsight_transitions":        {"Sequence number of the newest transition.", func() float64 { return float64(s.core.Journal().Last()) }},
		"edsight_live_readers":       {"Live readers that are connected.", func() float64 { return float64(s.live.readers()) }},
		"edsight_source_problems":    {"Problems that the source tells of.", func() float64 { return float64(len(s.core.Status().Source.Problems)) }},
		"pilot_services":             {"Services in the newest snapshot, under istiod's name.", func() float64 { return float64(s.core.Snapshot().ServiceCount()) }},
		"pilot_virt_services":        {"VirtualServices in the newest snapshot.", func() float64 { return float64(virtualServices(s.core.Snapshot())) }},
	})
	return m
}

type gauge struct {
	help  string
	value func() float64
}

func (m *metrics) gauges(all map[string]gauge) {
	for name, g := range all {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: g.help}, g.value))
	}
}

// observe counts an answered request. Names that match no route share one label.
func (m *metrics) observe(pattern string, status int, took time.Duration) {
	m.requests.WithLabelValues(pattern, strconv.Itoa(status)).Observe(took.Seconds())
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (s *Server) metricsRoutes() []route {
	h := promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{DisableCompression: true})
	return []route{{
		method: http.MethodGet, pattern: "/metrics", help: "metrics in Prometheus' format",
		handle: func(w http.ResponseWriter, r *http.Request) error {
			w.Header().Set("Cache-Control", "no-store")
			h.ServeHTTP(w, r)
			return nil
		},
	}}
}
