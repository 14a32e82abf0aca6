package cds

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"
	networking "istio.io/api/networking/v1alpha3"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// balance says how endpoints are chosen.
func (c *Cluster) balance(m *clusterv3.Cluster, mesh *state.Mesh) {
	if c.Type != OriginalDst {
		choose(m, c.policy.loadBalancer)
		hash(m, c.policy.loadBalancer.GetConsistentHash())
	}
	m.CommonLbConfig = &clusterv3.Cluster_CommonLbConfig{HealthyPanicThreshold: c.panicThreshold(mesh)}
	if c.weighsLocalities(mesh) {
		m.CommonLbConfig.LocalityConfigSpecifier = &clusterv3.Cluster_CommonLbConfig_LocalityWeightedLbConfig_{
			LocalityWeightedLbConfig: &clusterv3.Cluster_CommonLbConfig_LocalityWeightedLbConfig{},
		}
	}
	// As in Istio, subsets do not keep sessions with what drains.
	if c.Subset == "" && (c.Definition.PersistentSession || c.Definition.PersistentSessionHeader) {
		m.CommonLbConfig.OverrideHostStatus = &corev3.HealthStatusSet{Statuses: []corev3.HealthStatus{
			corev3.HealthStatus_UNKNOWN, corev3.HealthStatus_HEALTHY, corev3.HealthStatus_DRAINING, corev3.HealthStatus_DEGRADED,
		}}
	}
}

// choose sets the policy, with the warm-up of new endpoints where there can be one.
func choose(m *clusterv3.Cluster, lb *networking.LoadBalancerSettings) {
	slow := slowStart(lb)
	switch lb.GetSimple() {
	case networking.LoadBalancerSettings_RANDOM:
		m.LbPolicy = clusterv3.Cluster_RANDOM
	case networking.LoadBalancerSettings_ROUND_ROBIN:
		m.LbPolicy = clusterv3.Cluster_ROUND_ROBIN
		if slow != nil {
			m.LbConfig = &clusterv3.Cluster_RoundRobinLbConfig_{RoundRobinLbConfig: &clusterv3.Cluster_RoundRobinLbConfig{SlowStartConfig: slow}}
		}
	default: // least request, under both of its names
		m.LbPolicy = clusterv3.Cluster_LEAST_REQUEST
		if slow != nil {
			m.LbConfig = &clusterv3.Cluster_LeastRequestLbConfig_{LeastRequestLbConfig: &clusterv3.Cluster_LeastRequestLbConfig{SlowStartConfig: slow}}
		}
	}
}

func slowStart(lb *networking.LoadBalancerSettings) *clusterv3.Cluster_SlowStartConfig {
	if w := lb.GetWarmup(); w != nil {
		const percent = 10
		aggression := &corev3.RuntimeDouble{DefaultValue: 1, RuntimeKey: "edsight.slow_start"}
		if w.GetAggression() != nil {
			aggression.DefaultValue = w.GetAggression().GetValue()
		}
		return &clusterv3.Cluster_SlowStartConfig{
			SlowStartWindow: w.GetDuration(), Aggression: aggression, MinWeightPercent: percentOr(w.GetMinimumPercent(), percent),
		}
	}
	if d := lb.GetWarmupDurationSecs(); d != nil {
		return &clusterv3.Cluster_SlowStartConfig{SlowStartWindow: d}
	}
	return nil
}

// panicThreshold is the share of healthy endpoints below which Envoy uses all: 0
// where it is told of unhealthy ones.
func (c *Cluster) panicThreshold(mesh *state.Mesh) *typev3.Percent {
	switch e := c.policy.ejection; {
	case mesh.Features.SendUnhealthy, c.Definition.TrafficDistribution != model.DistributionAny:
		return &typev3.Percent{}
	case e != nil && e.GetMinHealthPercent() >= 0:
		return &typev3.Percent{Value: float64(e.GetMinHealthPercent())}
	}
	return nil // Envoy's own
}

// weighsLocalities tells whether a locality gets its share by its weight: if there
// is a distribution for whatever clients, or a failover that can happen.
func (c *Cluster) weighsLocalities(mesh *state.Mesh) bool {
	s, from := c.LocalitySetting(mesh)
	if switchedOff(s) {
		return false
	}
	return s.GetDistribute() != nil ||
		((c.policy.ejection != nil || from == LocalityOfService) && (s.GetFailover() != nil || s.GetFailoverPriority() != nil))
}

func hash(m *clusterv3.Cluster, h *networking.LoadBalancerSettings_ConsistentHashLB) {
	if h == nil {
		return
	}
	m.LbConfig = nil
	if maglev := h.GetMaglev(); maglev != nil {
		m.LbPolicy = clusterv3.Cluster_MAGLEV
		if n := maglev.GetTableSize(); n > 0 {
			m.LbConfig = &clusterv3.Cluster_MaglevLbConfig_{MaglevLbConfig: &clusterv3.Cluster_MaglevLbConfig{TableSize: wrapperspb.UInt64(n)}}
		}
		return
	}
	m.LbPolicy = clusterv3.Cluster_RING_HASH
	if size := ringSize(h); size > 0 {
		m.LbConfig = &clusterv3.Cluster_RingHashLbConfig_{RingHashLbConfig: &clusterv3.Cluster_RingHashLbConfig{MinimumRingSize: wrapperspb.UInt64(size)}}
	}
}

// ringSize is 0 if it is left to Envoy.
func ringSize(h *networking.LoadBalancerSettings_ConsistentHashLB) uint64 {
	if r := h.GetRingHash(); r != nil {
		return r.GetMinimumRingSize()
	}
	if n := h.GetMinimumRingSize(); n > 0 { //nolint:staticcheck // Istio reads the old field still
		return n
	}
	return 1024
}
