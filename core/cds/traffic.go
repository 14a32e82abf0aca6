package cds

import (
	"cmp"
	"math"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
	networking "istio.io/api/networking/v1alpha3"

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
func circuitBreakers(pool *networking.ConnectionPoolSettings, retries *networking.TrafficPolicy_RetryBudget) *clusterv3.CircuitBreakers {
	return &clusterv3.CircuitBreakers{Thresholds: []*clusterv3.CircuitBreakers_Thresholds{{
		RetryBudget:        budget(retries),
		MaxConnections:     limit(pool.GetTcp().GetMaxConnections()),
		MaxPendingRequests: limit(pool.GetHttp().GetHttp1MaxPendingRequests()),
		MaxRequests:        limit(pool.GetHttp().GetHttp2MaxRequests()),
		MaxRetries:         limit(pool.GetHttp().GetMaxRetries()),
		TrackRemaining:     true,
	}}}
}

func budget(b *networking.TrafficPolicy_RetryBudget) *clusterv3.CircuitBreakers_Thresholds_RetryBudget {
	if b == nil {
		return nil
	}
	const percent, concurrency = 20, 3
	return &clusterv3.CircuitBreakers_Thresholds_RetryBudget{
		BudgetPercent:       percentOr(b.GetPercent(), percent),
		MinRetryConcurrency: wrapperspb.UInt32(cmp.Or(b.GetMinRetryConcurrency(), concurrency)),
	}
}

func percentOr(v *wrapperspb.DoubleValue, without float64) *typev3.Percent {
	if v != nil {
		without = v.GetValue()
	}
	return &typev3.Percent{Value: without}
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
		m.SplitExternalLocalOriginErrors, m.EnforcingLocalOriginSuccessRate = true, wrapperspb.UInt32(0)
		if v := o.GetConsecutiveLocalOriginFailures(); v.GetValue() > 0 {
			m.ConsecutiveLocalOriginFailure, m.EnforcingConsecutiveLocalOriginFailure = v, wrapperspb.UInt32(100)
		}
	}
	return m
}
