package cds

import (
	"cmp"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
	networking "istio.io/api/networking/v1alpha3"

	"github.com/edsight/edsight/core/model"
)

const httpOptions = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"

// version is the HTTP that a cluster speaks.
type version uint8

const (
	http1 version = iota
	http2
	asClient // what the client speaks
)

// version goes by the rule, the protocol of the port, and the mesh. Routers do not
// find out what a client speaks on a port of which nobody knows.
func (c *Cluster) version() version {
	switch {
	case c.policy.pool.GetHttp().GetUseClientProtocol():
		return asClient
	case c.upgrade, isHTTP2(c.Port.Protocol):
		return http2
	case c.Port.Number == 0, c.Port.Protocol == model.ProtocolUnsupported && !c.Variant.Router:
		return asClient
	}
	return http1
}

func isHTTP2(p model.Protocol) bool {
	return p == model.ProtocolHTTP2 || p == model.ProtocolGRPC || p == model.ProtocolGRPCWeb
}

// protocolOptions says how HTTP is spoken. There are none for a port of another
// protocol, unless a rule sets some.
func (c *Cluster) protocolOptions(m *clusterv3.Cluster) error {
	o := &httpv3.HttpProtocolOptions{
		CommonHttpProtocolOptions: commonHTTP(c.policy.pool), UpstreamHttpProtocolOptions: fromRequest(c.policy.clientTLS),
	}
	switch c.version() {
	case http1:
		if !c.Port.Protocol.IsHTTP() && o.GetCommonHttpProtocolOptions() == nil && o.GetUpstreamHttpProtocolOptions() == nil {
			return nil
		}
		o.UpstreamProtocolOptions = explicit(&httpv3.HttpProtocolOptions_ExplicitHttpConfig{
			ProtocolConfig: &httpv3.HttpProtocolOptions_ExplicitHttpConfig_HttpProtocolOptions{HttpProtocolOptions: &corev3.Http1ProtocolOptions{}},
		})
	case http2:
		h2 := &corev3.Http2ProtocolOptions{}
		// As in Istio the limit is not for what is upgraded.
		if n := c.policy.pool.GetHttp().GetMaxConcurrentStreams(); n > 0 && !c.upgrade {
			h2.MaxConcurrentStreams = wrapperspb.UInt32(uint32(n))
		}
		o.UpstreamProtocolOptions = explicit(&httpv3.HttpProtocolOptions_ExplicitHttpConfig{
			ProtocolConfig: &httpv3.HttpProtocolOptions_ExplicitHttpConfig_Http2ProtocolOptions{Http2ProtocolOptions: h2},
		})
	case asClient:
		o.UpstreamProtocolOptions = &httpv3.HttpProtocolOptions_UseDownstreamProtocolConfig{
			UseDownstreamProtocolConfig: &httpv3.HttpProtocolOptions_UseDownstreamHttpConfig{
				HttpProtocolOptions: &corev3.Http1ProtocolOptions{}, Http2ProtocolOptions: &corev3.Http2ProtocolOptions{},
			},
		}
	}
	boxed, err := anypb.New(o)
	if err != nil {
		return err
	}
	m.TypedExtensionProtocolOptions = map[string]*anypb.Any{httpOptions: boxed}
	return nil
}

func explicit(c *httpv3.HttpProtocolOptions_ExplicitHttpConfig) *httpv3.HttpProtocolOptions_ExplicitHttpConfig_ {
	return &httpv3.HttpProtocolOptions_ExplicitHttpConfig_{ExplicitHttpConfig: c}
}

func commonHTTP(pool *networking.ConnectionPoolSettings) *corev3.HttpProtocolOptions {
	o := &corev3.HttpProtocolOptions{
		IdleTimeout:           cmp.Or(pool.GetHttp().GetIdleTimeout(), pool.GetTcp().GetIdleTimeout()),
		MaxConnectionDuration: pool.GetTcp().GetMaxConnectionDuration(),
	}
	if n := pool.GetHttp().GetMaxRequestsPerConnection(); n > 0 {
		o.MaxRequestsPerConnection = wrapperspb.UInt32(uint32(n))
	}
	if o.GetIdleTimeout() == nil && o.GetMaxConnectionDuration() == nil && o.GetMaxRequestsPerConnection() == nil {
		return nil
	}
	return o
}

// fromRequest has the server's name, and the name that its certificate must have,
// be the request's where a rule for TLS names none.
func fromRequest(tls *networking.ClientTLSSettings) *corev3.UpstreamHttpProtocolOptions {
	if !originates(tls) || tls.GetSni() != "" {
		return nil
	}
	return &corev3.UpstreamHttpProtocolOptions{
		AutoSni:           true,
		AutoSanValidation: len(tls.GetSubjectAltNames()) == 0 && !tls.GetInsecureSkipVerify().GetValue(),
	}
}
