package cds

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	proxyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/proxy_protocol/v3"
	rawv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/raw_buffer/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	networking "istio.io/api/networking/v1alpha3"

	"github.com/edsight/edsight/core/model"
)

const (
	tlsSocket   = "envoy.transport_sockets.tls"
	rawSocket   = "envoy.transport_sockets.raw_buffer"
	proxySocket = "envoy.transport_sockets.upstream_proxy_protocol"
	systemCAs   = "/etc/ssl/certs/ca-certificates.crt"
)

// transport sets the TLS that a rule asks for, within the PROXY protocol if it asks
// for that.
func (c *Cluster) transport(m *clusterv3.Cluster) error {
	var err error
	if tls := c.policy.clientTLS; originates(tls) {
		if m.TransportSocket, err = socket(tlsSocket, c.tlsContext(tls)); err != nil {
			return err
		}
	}
	p := c.policy.proxyProtocol
	if p == nil {
		return nil
	}
	inner := m.GetTransportSocket()
	if inner == nil {
		if inner, err = socket(rawSocket, &rawv3.RawBuffer{}); err != nil {
			return err
		}
	}
	m.TransportSocket, err = socket(proxySocket, &proxyv3.ProxyProtocolUpstreamTransport{
		Config: &corev3.ProxyProtocolConfig{Version: corev3.ProxyProtocolConfig_Version(p.GetVersion())}, TransportSocket: inner,
	})
	return err
}

// originates tells whether connections are made by TLS of their own. ISTIO_MUTUAL
// wants certificates of a mesh, which Edsight does not issue; such clusters stay in
// clear. MUTUAL is nothing without a certificate and its key. What a credentialName
// stands for Edsight does not send either: of such a credential neither the certificate
// is presented nor the CA trusted, and servers that want these refuse.
func originates(tls *networking.ClientTLSSettings) bool {
	switch tls.GetMode() {
	case networking.ClientTLSSettings_SIMPLE:
		return tls != nil
	case networking.ClientTLSSettings_MUTUAL:
		return tls.GetCredentialName() != "" || (tls.GetClientCertificate() != "" && tls.GetPrivateKey() != "")
	case networking.ClientTLSSettings_DISABLE, networking.ClientTLSSettings_ISTIO_MUTUAL:
	}
	return false
}

func (c *Cluster) tlsContext(tls *networking.ClientTLSSettings) *tlsv3.UpstreamTlsContext {
	common := &tlsv3.CommonTlsContext{
		TlsParams: &tlsv3.TlsParameters{
			TlsMinimumProtocolVersion: tlsv3.TlsParameters_TLSv1_2, TlsMaximumProtocolVersion: tlsv3.TlsParameters_TLSv1_3,
		},
		ValidationContextType: &tlsv3.CommonTlsContext_ValidationContext{ValidationContext: c.validation(tls)},
	}
	if tls.GetMode() == networking.ClientTLSSettings_MUTUAL && tls.GetClientCertificate() != "" {
		common.TlsCertificates = []*tlsv3.TlsCertificate{{
			CertificateChain: file(tls.GetClientCertificate()), PrivateKey: file(tls.GetPrivateKey()),
		}}
	}
	if c.version() == http2 {
		common.AlpnProtocols = []string{"h2"}
	}
	return &tlsv3.UpstreamTlsContext{CommonTlsContext: common, Sni: tls.GetSni()}
}

// validation says whose certificates are taken, and of which names: those in the
// rule, else the ServiceEntry's.
func (c *Cluster) validation(tls *networking.ClientTLSSettings) *tlsv3.CertificateValidationContext {
	v := &tlsv3.CertificateValidationContext{}
	if tls.GetInsecureSkipVerify().GetValue() {
		return v
	}
	ca := tls.GetCaCertificates()
	if ca == "" || ca == "system" {
		ca = systemCAs
	}
	v.TrustedCa = file(ca)
	if crl := tls.GetCaCrl(); crl != "" {
		v.Crl = file(crl)
	}
	names := tls.GetSubjectAltNames()
	if len(names) == 0 && c.Definition.Provider == model.ProviderExternal {
		names = c.Definition.ServiceAccounts
	}
	for _, name := range names {
		v.MatchTypedSubjectAltNames = append(v.MatchTypedSubjectAltNames, sans(name)...)
	}
	return v
}

func socket(name string, config proto.Message) (*corev3.TransportSocket, error) {
	boxed, err := anypb.New(config)
	if err != nil {
		return nil, err
	}
	return &corev3.TransportSocket{Name: name, ConfigType: &corev3.TransportSocket_TypedConfig{TypedConfig: boxed}}, nil
}

func file(path string) *corev3.DataSource {
	return &corev3.DataSource{Specifier: &corev3.DataSource_Filename{Filename: path}}
}

// sans matches a name in any of the places where a certificate may have it.
func sans(name string) []*tlsv3.SubjectAltNameMatcher {
	exact := &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: name}}
	return []*tlsv3.SubjectAltNameMatcher{
		{SanType: tlsv3.SubjectAltNameMatcher_URI, Matcher: exact},
		{SanType: tlsv3.SubjectAltNameMatcher_DNS, Matcher: exact},
	}
}
