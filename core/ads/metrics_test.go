package ads

import (
	"strings"
	"testing"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/prometheus/client_golang/prometheus"
)

// TestMetricsHaveIstiodsNames serves one client, which acknowledges, refuses and
// answers late, and looks for what dashboards of istiod ask for.
func TestMetricsHaveIstiodsNames(t *testing.T) {
	h := start(t, services(1), func(h *harness) { h.options.Quiet = time.Millisecond })
	c := h.connect("client-0.shop", "s0")
	h.put(slice("s0", "10.0.0.2"))
	m := c.expect("+" + cluster("s0"))
	c.send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeEndpoint, ResponseNonce: "older"})
	c.nack(m, "no")
	h.eventually("the refusal is known", func() bool { return status1(t, h, typeEndpoint).Error != "" })
	have := gathered(t, h.server)
	for name, want := range map[string]float64{
		"pilot_xds version=":                    1,
		"pilot_xds_pushes type=cds":             1,
		"pilot_xds_pushes type=eds":             2,
		"pilot_total_xds_rejects type=eds":      1,
		"pilot_total_xds_rejects type=cds":      0,
		"pilot_xds_expired_nonce type=eds":      1,
		"pilot_xds_config_size_bytes type=eds":  2,
		"pilot_xds_push_time type=cds":          1,
		"pilot_push_triggers type=endpoint":     1,
		"pilot_proxy_convergence_time":          1,
		"pilot_proxy_queue_time":                1,
		"pilot_xds_write_timeout":               0,
		"pilot_total_xds_internal_errors":       0,
		"edsight_xds_resources_total type=eds":  2,
		"pilot_xds_config_size_bytes type=what": -1,
	} {
		if n, ok := have[name]; (want >= 0) != ok || (ok && n != want) {
			t.Errorf("%s is %v, want %v", name, n, want)
		}
	}
	if have["pilot_debounce_time"] == 0 {
		t.Error("the wait for quiet is not measured")
	}
}

// TestConvergenceIsCountedOnce has pushes of two messages, and one of none.
func TestConvergenceIsCountedOnce(t *testing.T) {
	h := start(t, services(2))
	c := h.connect("client-0.shop", "s0")
	count := func() float64 { return gathered(t, h.server)["pilot_proxy_convergence_time"] }
	before := count()
	h.put(rule)
	c.ack(c.expect("+" + cluster("s0")))
	c.ack(c.expect("+" + cluster("s0")))
	h.eventually("one push is counted", func() bool { return count()-before == 1 })
	h.delivered(h.apply(slice("s1", "10.0.1.2"))) // not asked for
	tr := h.apply(strings.Replace(rule, "7", "8", 1))
	c.ack(c.expect("+" + cluster("s0")))
	c.ack(c.expect("+" + cluster("s0")))
	h.delivered(tr)
	if n := count() - before; n != 2 {
		t.Errorf("%v are counted after two pushes, want 2", n)
	}
}

// gathered has the values of counters and gauges, and the counts of histograms.
func gathered(t *testing.T, c prometheus.Collector) map[string]float64 {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(c)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetName() + "=" + l.GetValue()
			}
			out[strings.TrimSpace(name)] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return out
}
