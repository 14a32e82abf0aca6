package cds

import (
	"cmp"
	"slices"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

const (
	defaultTimeout = 10 * time.Second
	dnsRefresh     = time.Minute
)

// Message returns a new message for xDS.
func (c *Cluster) Message(mesh *state.Mesh) (*clusterv3.Cluster, error) {
	m := &clusterv3.Cluster{
		Name: c.Name, ClusterDiscoveryType: &clusterv3.Cluster_Type{Type: c.Type.message()},
		ConnectTimeout: connectTimeout(c.policy.pool, mesh),
	}
	c.discovery(m, mesh)
	if c.Name == blackHole || c.Name == connectOriginate {
		return m, nil
	}
	m.CircuitBreakers = circuitBreakers(c.policy.pool, c.policy.retryBudget)
	m.UpstreamConnectionOptions = keepalive(c.policy.pool, mesh)
	if err := c.protocolOptions(m); err != nil {
		return nil, err
	}
	if c.Definition == nil {
		return m, nil
	}
	m.Metadata = c.metadata()
	if c.inbound {
		return m, nil
	}
	m.OutlierDetection = outlierDetection(c.policy.ejection)
	c.balance(m, mesh)
	return m, c.transport(m)
}

func (t Type) message() clusterv3.Cluster_DiscoveryType {
	switch t {
	case EDS:
		return clusterv3.Cluster_EDS
	case StrictDNS:
		return clusterv3.Cluster_STRICT_DNS
	case LogicalDNS:
		return clusterv3.Cluster_LOGICAL_DNS
	case OriginalDst:
		return clusterv3.Cluster_ORIGINAL_DST
	case Static, none:
	}
	return clusterv3.Cluster_STATIC
}

// familyOf is that of the proxy's addresses; of those with both, IPv4 unless the mesh
// has both.
func familyOf(p *model.Proxy, mesh *state.Mesh) clusterv3.Cluster_DnsLookupFamily {
	switch {
	case onlyIPv6(p):
		return clusterv3.Cluster_V6_ONLY
	case mesh.Features.DualStack && slices.ContainsFunc(p.IPs, model.IsIPv6):
		return clusterv3.Cluster_ALL
	}
	return clusterv3.Cluster_V4_ONLY
}

// discovery says where the endpoints come from.
func (c *Cluster) discovery(m *clusterv3.Cluster, mesh *state.Mesh) {
	switch c.Type {
	case EDS:
		m.EdsClusterConfig = &clusterv3.Cluster_EdsClusterConfig{
			ServiceName: c.EDSServiceName,
			EdsConfig: &corev3.ConfigSource{
				ConfigSourceSpecifier: &corev3.ConfigSource_Ads{Ads: &corev3.AggregatedConfigSource{}},
				ResourceApiVersion:    corev3.ApiVersion_V3, InitialFetchTimeout: durationpb.New(0),
			},
		}
	case StrictDNS, LogicalDNS:
		m.DnsLookupFamily = c.Variant.Family
		m.DnsRefreshRate = cmp.Or(mesh.Config.GetDnsRefreshRate(), durationpb.New(dnsRefresh)) //nolint:staticcheck // the Envoy of the tests takes it
		m.RespectDnsTtl = true                                                                 //nolint:staticcheck // as above
	case OriginalDst:
		m.LbPolicy = clusterv3.Cluster_CLUSTER_PROVIDED
		if c.Definition != nil && c.Definition.PassthroughTargetPorts[c.Port.Number] > 0 {
			m.LbConfig = &clusterv3.Cluster_OriginalDstLbConfig_{OriginalDstLbConfig: &clusterv3.Cluster_OriginalDstLbConfig{
				UpstreamPortOverride: wrapperspb.UInt32(c.Definition.PassthroughTargetPorts[c.Port.Number]),
			}}
		}
	case Static, none:
	}
	if c.Inline != nil {
		m.LoadAssignment = c.Inline.Message()
	}
}

// metadata names the service, as telemetry of Istio's proxies wants it.
func (c *Cluster) metadata() *corev3.Metadata {
	service := &structpb.Struct{Fields: map[string]*structpb.Value{
		"host":      structpb.NewStringValue(string(c.Definition.Key.Hostname)),
		"name":      structpb.NewStringValue(c.Definition.Name),
		"namespace": structpb.NewStringValue(c.Definition.Key.Namespace),
	}}
	fields := map[string]*structpb.Value{
		"services": structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{structpb.NewStructValue(service)}}),
	}
	if c.Subset != "" {
		fields["subset"] = structpb.NewStringValue(c.Subset)
	}
	return &corev3.Metadata{FilterMetadata: map[string]*structpb.Struct{"istio": {Fields: fields}}}
}
