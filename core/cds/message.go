package cds

import (
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/edsight/edsight/core/state"
)

const (
	httpOptions    = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
	defaultTimeout = 10 * time.Second
	dnsRefresh     = time.Minute
)

// Message returns a new message for xDS.
func (c *Cluster) Message(mesh *state.Mesh) (*clusterv3.Cluster, error) {
	m := &clusterv3.Cluster{
		Name: c.Name, ClusterDiscoveryType: &clusterv3.Cluster_Type{Type: c.Type.message()},
		ConnectTimeout: connectTimeout(c.policy.pool, mesh),
	}
	c.discovery(m)
	if c.Definition == nil {
		return m, nil
	}
	m.CircuitBreakers = circuitBreakers(c.policy.pool)
	m.UpstreamConnectionOptions = keepalive(c.policy.pool, mesh)
	m.OutlierDetection = outlierDetection(c.policy.ejection)
	balance(m, c)
	m.Metadata = c.metadata()
	if err := protocolOptions(m, c); err != nil {
		return nil, err
	}
	return m, transport(m, c.policy.clientTLS, speaksHTTP2(c))
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
	case Static:
	}
	return clusterv3.Cluster_STATIC
}

// discovery says where the endpoints come from.
func (c *Cluster) discovery(m *clusterv3.Cluster) {
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
		m.DnsLookupFamily = clusterv3.Cluster_V4_ONLY
		m.DnsRefreshRate = durationpb.New(dnsRefresh) //nolint:staticcheck // what all versions of Envoy understand
		m.RespectDnsTtl = true                        //nolint:staticcheck // as above
	case OriginalDst:
		m.LbPolicy = clusterv3.Cluster_CLUSTER_PROVIDED
	case Static:
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

// protocolOptions says how HTTP is spoken, by the protocol of the port and the
// rule's wish to upgrade.
func protocolOptions(m *clusterv3.Cluster, c *Cluster) error {
	pool := c.policy.pool.GetHttp()
	options := &httpv3.HttpProtocolOptions{}
	switch {
	case !c.Port.Protocol.IsHTTP():
		return nil
	case speaksHTTP2(c):
		h2 := &corev3.Http2ProtocolOptions{}
		if n := pool.GetMaxConcurrentStreams(); n > 0 {
			h2.MaxConcurrentStreams = wrapperspb.UInt32(uint32(n))
		}
		options.UpstreamProtocolOptions = explicit(&httpv3.HttpProtocolOptions_ExplicitHttpConfig{
			ProtocolConfig: &httpv3.HttpProtocolOptions_ExplicitHttpConfig_Http2ProtocolOptions{Http2ProtocolOptions: h2},
		})
	case pool.GetUseClientProtocol():
		options.UpstreamProtocolOptions = &httpv3.HttpProtocolOptions_UseDownstreamProtocolConfig{
			UseDownstreamProtocolConfig: &httpv3.HttpProtocolOptions_UseDownstreamHttpConfig{
				HttpProtocolOptions: &corev3.Http1ProtocolOptions{}, Http2ProtocolOptions: &corev3.Http2ProtocolOptions{},
			},
		}
	default:
		options.UpstreamProtocolOptions = explicit(&httpv3.HttpProtocolOptions_ExplicitHttpConfig{
			ProtocolConfig: &httpv3.HttpProtocolOptions_ExplicitHttpConfig_HttpProtocolOptions{
				HttpProtocolOptions: &corev3.Http1ProtocolOptions{},
			},
		})
	}
	options.CommonHttpProtocolOptions = commonHTTP(pool.GetIdleTimeout(), pool.GetMaxRequestsPerConnection())
	boxed, err := anypb.New(options)
	if err != nil {
		return err
	}
	m.TypedExtensionProtocolOptions = map[string]*anypb.Any{httpOptions: boxed}
	return nil
}

func explicit(c *httpv3.HttpProtocolOptions_ExplicitHttpConfig) *httpv3.HttpProtocolOptions_ExplicitHttpConfig_ {
	return &httpv3.HttpProtocolOptions_ExplicitHttpConfig_{ExplicitHttpConfig: c}
}

func commonHTTP(idle *durationpb.Duration, requests int32) *corev3.HttpProtocolOptions {
	if idle == nil && requests <= 0 {
		return nil
	}
	o := &corev3.HttpProtocolOptions{}
	if idle != nil {
		o.IdleTimeout, _ = proto.Clone(idle).(*durationpb.Duration)
	}
	if requests > 0 {
		o.MaxRequestsPerConnection = wrapperspb.UInt32(uint32(requests))
	}
	return o
}
