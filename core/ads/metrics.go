package ads

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are those of istiod that have a meaning here, under its names, so that
// dashboards made for it work.
type metrics struct {
	pushes      *prometheus.CounterVec
	rejects     *prometheus.CounterVec
	expired     *prometheus.CounterVec
	resources   *prometheus.CounterVec
	size        *prometheus.HistogramVec
	times       *prometheus.HistogramVec
	convergence prometheus.Histogram
	debounce    prometheus.Histogram
	queue       prometheus.Histogram
	answers     prometheus.Histogram
	triggers    *prometheus.CounterVec
	timeouts    prometheus.Counter
	errors      prometheus.Counter
	// by type, so that nothing is looked up for each message
	byType map[string]*typeMetrics
}

type typeMetrics struct {
	pushes, rejects, expired, resources prometheus.Counter
	size, times                         prometheus.Observer
}

func newMetrics() *metrics {
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"type"})
	}
	histogram := func(name, help string, buckets ...float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	}
	byType := func(name, help string, buckets ...float64) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{"type"})
	}
	m := &metrics{
		pushes:  counter("pilot_xds_pushes", "Messages sent to proxies, by type."),
		rejects: counter("pilot_total_xds_rejects", "Messages that proxies refused, by type."),
		expired: counter("pilot_xds_expired_nonce", "Requests that answer an older message than the last, by type."),

		resources: counter("edsight_xds_resources_total", "Resources sent to proxies, by type."),
		size: byType("pilot_xds_config_size_bytes", "Sizes of messages to proxies, by type.",
			1, 10_000, 1_000_000, 4_000_000, 10_000_000, 40_000_000),
		times: byType("pilot_xds_push_time", "Seconds to make a message and to hand it over, by type.",
			.001, .01, .1, 1, 3, 5, 10, 20, 30),
		convergence: histogram("pilot_proxy_convergence_time", "Seconds from when a change was seen until it was sent to a proxy.",
			.005, .01, .02, .05, .1, .2, .5, 1, 3, 5, 10, 20, 30),
		debounce: histogram("pilot_debounce_time", "Seconds from a transition until the changes that are gathered with it are published.",
			.01, .1, 1, 3, 5, 10, 20, 30),
		queue: histogram("pilot_proxy_queue_time", "Seconds from when a change was published until a stream took it up.",
			.001, .005, .01, .05, .1, .5, 1, 3, 5, 10, 20, 30),
		answers: histogram("edsight_xds_answer_seconds", "Seconds from a message until the proxy's answer to it.",
			.001, .005, .01, .05, .1, .5, 1, 5, 10),
		triggers: counter("pilot_push_triggers", "Transitions that were pushed, by what triggered them."),
		timeouts: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "pilot_xds_write_timeout", Help: "Streams that were ended because the proxy did not read.",
		}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "pilot_total_xds_internal_errors", Help: "Clusters that could not be made.",
		}),
		byType: map[string]*typeMetrics{},
	}
	for _, url := range []string{typeCluster, typeEndpoint, typeListener, typeRoute} {
		m.byType[url] = m.of(shortName(url))
	}
	return m
}

func (m *metrics) of(short string) *typeMetrics {
	return &typeMetrics{
		m.pushes.WithLabelValues(short), m.rejects.WithLabelValues(short), m.expired.WithLabelValues(short), m.resources.WithLabelValues(short),
		m.size.WithLabelValues(short), m.times.WithLabelValues(short),
	}
}

// shortName is istiod's name of a type; types that clients make up share one.
func shortName(url string) string {
	switch url {
	case typeCluster:
		return "cds"
	case typeEndpoint:
		return "eds"
	case typeListener:
		return "lds"
	case typeRoute:
		return "rds"
	}
	if strings.HasPrefix(url, debugPrefix) {
		return "debug"
	}
	return "other"
}

func (m *metrics) typed(url string) *typeMetrics {
	if t := m.byType[url]; t != nil {
		return t
	}
	return m.of(shortName(url))
}

func (m *metrics) sent(r *response, bytes int, took time.Duration) {
	t := m.typed(r.typeURL)
	t.pushes.Inc()
	t.resources.Add(float64(len(r.resources)))
	t.size.Observe(float64(bytes))
	t.times.Observe(took.Seconds())
}

func (m *metrics) answered(url string, refused bool, took time.Duration) {
	m.answers.Observe(took.Seconds())
	if refused {
		m.typed(url).rejects.Inc()
	}
}

func (m *metrics) triggered(triggers []string) {
	for _, t := range triggers {
		m.triggers.WithLabelValues(t).Inc()
	}
}

// Describe implements prometheus.Collector.
func (s *Server) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range s.metrics.all() {
		c.Describe(ch)
	}
	ch <- connectedDesc()
}

// Collect implements prometheus.Collector.
func (s *Server) Collect(ch chan<- prometheus.Metric) {
	for _, c := range s.metrics.all() {
		c.Collect(ch)
	}
	count := map[string]int{}
	for _, one := range s.Sessions() {
		count[one.Node.IstioVersion]++
	}
	for version, n := range count {
		ch <- prometheus.MustNewConstMetric(connectedDesc(), prometheus.GaugeValue, float64(n), version)
	}
}

func connectedDesc() *prometheus.Desc {
	return prometheus.NewDesc("pilot_xds", "Connected proxies, by their version of Istio.", []string{"version"}, nil)
}

func (m *metrics) all() []prometheus.Collector {
	return []prometheus.Collector{
		m.pushes, m.rejects, m.expired, m.resources, m.size, m.times, m.convergence, m.debounce, m.queue, m.answers, m.triggers, m.timeouts, m.errors,
	}
}
