package cds

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/types/known/anypb"
	networking "istio.io/api/networking/v1alpha3"
)

const (
	tlsSocket = "envoy.transport_sockets.tls"
	systemCAs = "/etc/ssl/certs/ca-certificates.crt"
)

// transport sets the TLS that a rule asks for. ISTIO_MUTUAL wants certificates
// of a mesh, which Edsight does not issue; such clusters stay in clear.
func transport(m *clusterv3.Cluster, tls *networking.ClientTLSSettings, http2 bool) error {
	switch tls.GetMode() {
	case networking.ClientTLSSettings_SIMPLE, networking.ClientTLSSettings_MUTUAL:
	case networking.ClientTLSSettings_DISABLE, networking.ClientTLSSettings_ISTIO_MUTUAL:
		return nil
	}
	validation := &tlsv3.CertificateValidationContext{}
	if !tls.GetInsecureSkipVerify().GetValue() {
		ca := tls.GetCaCertificates()
		if ca == "" || ca == "system" {
			ca = systemCAs
		}
		validation.TrustedCa = file(ca)
		for _, name := range tls.GetSubjectAltNames() {
			validation.MatchTypedSubjectAltNames = append(validation.MatchTypedSubjectAltNames, sans(name)...)
		}
	}
	common := &tlsv3.CommonTlsContext{
		ValidationContextType: &tlsv3.CommonTlsContext_ValidationContext{ValidationContext: validation},
	}
	if tls.GetMode() == networking.ClientTLSSettings_MUTUAL {
		common.TlsCertificates = []*tlsv3.TlsCertificate{{
			CertificateChain: file(tls.GetClientCertificate()), PrivateKey: file(tls.GetPrivateKey()),
		}}
	}
	if http2 {
		common.AlpnProtocols = []string{"h2"}
	}
	boxed, err := anypb.New(&tlsv3.UpstreamTlsContext{CommonTlsContext: common, Sni: tls.GetSni()})
	if err != nil {
		return err
	}
	m.TransportSocket = &corev3.TransportSocket{Name: tlsSocket, ConfigType: &corev3.TransportSocket_TypedConfig{TypedConfig: boxed}}
	return nil
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
