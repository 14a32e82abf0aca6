package cds

import (
	"math"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
	networking "istio.io/api/networking/v1alpha3"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

func connectTimeout(pool *networking.ConnectionPoolSettings, mesh *state.Mesh) *durationpb.Duration {
	if d := pool.GetTcp().GetConnectTimeout(); d != nil {
		return d
	}
	if d := mesh.Config.GetConnectTimeout(); d != nil {
		return d
	}
	return durationpb.New(defaultTimeout)
}

// circuitBreakers leaves everything open that no rule limits.
func circuitBreakers(pool *networking.ConnectionPoolSettings) *clusterv3.CircuitBreakers {
	return &clusterv3.CircuitBreakers{Thresholds: []*clusterv3.CircuitBreakers_Thresholds{{
		MaxConnections:     limit(pool.GetTcp().GetMaxConnections()),
		MaxPendingRequests: limit(pool.GetHttp().GetHttp1MaxPendingRequests()),
		MaxRequests:        limit(pool.GetHttp().GetHttp2MaxRequests()),
		MaxRetries:         limit(pool.GetHttp().GetMaxRetries()),
		TrackRemaining:     true,
	}}}
}

func limit(n int32) *wrapperspb.UInt32Value {
	if n <= 0 {
		return wrapperspb.UInt32(math.MaxUint32)
	}
	return wrapperspb.UInt32(uint32(n))
}

func keepalive(pool *networking.ConnectionPoolSettings, mesh *state.Mesh) *clusterv3.UpstreamConnectionOptions {
	k := &corev3.TcpKeepalive{}
	if p := pool.GetTcp().GetTcpKeepalive(); p != nil {
		k.KeepaliveProbes, k.KeepaliveTime, k.KeepaliveInterval = count(p.GetProbes()), seconds(p.GetTime()), seconds(p.GetInterval())
	} else if p := mesh.Config.GetTcpKeepalive(); p != nil {
		k.KeepaliveProbes, k.KeepaliveTime, k.KeepaliveInterval = count(p.GetProbes()), seconds(p.GetTime()), seconds(p.GetInterval())
	} else {
		return nil
	}
	return &clusterv3.UpstreamConnectionOptions{TcpKeepalive: k}
}

func count(n uint32) *wrapperspb.UInt32Value {
	if n == 0 {
		return nil
	}
	return wrapperspb.UInt32(n)
}

func seconds(d *durationpb.Duration) *wrapperspb.UInt32Value {
	const most = 1<<32 - 1
	return count(uint32(min(max(d.GetSeconds(), 0), most)))
}

// outlierDetection ejects for connection errors and 5xx, as the rule says.
func outlierDetection(o *networking.OutlierDetection) *clusterv3.OutlierDetection {
	if o == nil {
		return nil
	}
	m := &clusterv3.OutlierDetection{
		Interval: o.GetInterval(), BaseEjectionTime: o.GetBaseEjectionTime(),
		MaxEjectionPercent: count(uint32(max(o.GetMaxEjectionPercent(), 0))), EnforcingSuccessRate: wrapperspb.UInt32(0),
	}
	enforce := func(v *wrapperspb.UInt32Value) *wrapperspb.UInt32Value {
		if v.GetValue() > 0 {
			return wrapperspb.UInt32(100)
		}
		return wrapperspb.UInt32(0)
	}
	if v := o.GetConsecutive_5XxErrors(); v != nil {
		m.Consecutive_5Xx, m.EnforcingConsecutive_5Xx = v, enforce(v)
	}
	if v := o.GetConsecutiveGatewayErrors(); v != nil {
		m.ConsecutiveGatewayFailure, m.EnforcingConsecutiveGatewayFailure = v, enforce(v)
	}
	if o.GetSplitExternalLocalOriginErrors() {
		m.SplitExternalLocalOriginErrors = true
		if v := o.GetConsecutiveLocalOriginFailures(); v.GetValue() > 0 {
			m.ConsecutiveLocalOriginFailure, m.EnforcingConsecutiveLocalOriginFailure = v, wrapperspb.UInt32(100)
		}
	}
	return m
}

// balance says how endpoints are chosen.
func balance(m *clusterv3.Cluster, c *Cluster) {
	lb := c.policy.loadBalancer
	if c.Type != OriginalDst {
		m.LbPolicy = clusterv3.Cluster_LEAST_REQUEST
		switch lb.GetSimple() {
		case networking.LoadBalancerSettings_ROUND_ROBIN:
			m.LbPolicy = clusterv3.Cluster_ROUND_ROBIN
		case networking.LoadBalancerSettings_RANDOM:
			m.LbPolicy = clusterv3.Cluster_RANDOM
		default: // least request, under both of its names
		}
		hash(m, lb.GetConsistentHash())
	}
	common := &clusterv3.Cluster_CommonLbConfig{}
	if e := c.policy.ejection; e != nil {
		common.HealthyPanicThreshold = &typev3.Percent{Value: float64(e.GetMinHealthPercent())}
	}
	if l := c.View.Locality; l.Distribute != "" {
		common.LocalityConfigSpecifier = &clusterv3.Cluster_CommonLbConfig_LocalityWeightedLbConfig_{
			LocalityWeightedLbConfig: &clusterv3.Cluster_CommonLbConfig_LocalityWeightedLbConfig{},
		}
	}
	if c.Definition.PersistentSession || c.Definition.PersistentSessionHeader {
		common.OverrideHostStatus = &corev3.HealthStatusSet{Statuses: []corev3.HealthStatus{
			corev3.HealthStatus_UNKNOWN, corev3.HealthStatus_HEALTHY, corev3.HealthStatus_DRAINING,
		}}
	}
	m.CommonLbConfig = common
}

func hash(m *clusterv3.Cluster, h *networking.LoadBalancerSettings_ConsistentHashLB) {
	if h == nil {
		return
	}
	if maglev := h.GetMaglev(); maglev != nil {
		m.LbPolicy = clusterv3.Cluster_MAGLEV
		if n := maglev.GetTableSize(); n > 0 {
			m.LbConfig = &clusterv3.Cluster_MaglevLbConfig_{MaglevLbConfig: &clusterv3.Cluster_MaglevLbConfig{TableSize: wrapperspb.UInt64(n)}}
		}
		return
	}
	m.LbPolicy = clusterv3.Cluster_RING_HASH
	size := max(h.GetRingHash().GetMinimumRingSize(), 1024)
	m.LbConfig = &clusterv3.Cluster_RingHashLbConfig_{RingHashLbConfig: &clusterv3.Cluster_RingHashLbConfig{MinimumRingSize: wrapperspb.UInt64(size)}}
}

// speaksHTTP2 tells whether requests are sent as HTTP/2: by the protocol of the
// port, or because the rule upgrades HTTP/1.
func speaksHTTP2(c *Cluster) bool {
	switch c.Port.Protocol {
	case model.ProtocolHTTP2, model.ProtocolGRPC, model.ProtocolGRPCWeb:
		return true
	case model.ProtocolHTTP:
		return c.policy.pool.GetHttp().GetH2UpgradePolicy() == networking.ConnectionPoolSettings_HTTPSettings_UPGRADE
	default:
		return false
	}
}
