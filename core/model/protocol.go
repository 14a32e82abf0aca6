package model

import "strings"

// Protocol of a service port, in Istio's spelling.
type Protocol string

// The protocols.
const (
	ProtocolUDP         Protocol = "UDP"
	ProtocolTCP         Protocol = "TCP"
	ProtocolHTTP        Protocol = "HTTP"
	ProtocolHTTPS       Protocol = "HTTPS"
	ProtocolHTTP2       Protocol = "HTTP2"
	ProtocolGRPC        Protocol = "GRPC"
	ProtocolGRPCWeb     Protocol = "GRPC-Web"
	ProtocolHTTPProxy   Protocol = "HTTP_PROXY"
	ProtocolHBONE       Protocol = "HBONE"
	ProtocolTLS         Protocol = "TLS"
	ProtocolMongo       Protocol = "Mongo"
	ProtocolRedis       Protocol = "Redis"
	ProtocolMySQL       Protocol = "MySQL"
	ProtocolUnsupported Protocol = "UnsupportedProtocol"
)

var protocolNames = map[string]Protocol{ //nolint:gochecknoglobals // a constant table
	"tcp": ProtocolTCP, "udp": ProtocolUDP, "grpc": ProtocolGRPC, "grpc-web": ProtocolGRPCWeb,
	"http": ProtocolHTTP, "http_proxy": ProtocolHTTPProxy, "http2": ProtocolHTTP2, "https": ProtocolHTTPS,
	"tls": ProtocolTLS, "mongo": ProtocolMongo, "redis": ProtocolRedis, "mysql": ProtocolMySQL,
	"hbone": ProtocolHBONE,
}

// ParseProtocol reads a protocol's name in any case; an unknown name gives
// ProtocolUnsupported.
func ParseProtocol(name string) Protocol {
	if p, ok := protocolNames[strings.ToLower(name)]; ok {
		return p
	}
	return ProtocolUnsupported
}

// IsHTTP tells whether the protocol is carried over HTTP.
func (p Protocol) IsHTTP() bool {
	switch p {
	case ProtocolHTTP, ProtocolHTTP2, ProtocolGRPC, ProtocolGRPCWeb, ProtocolHTTPProxy:
		return true
	case ProtocolUDP, ProtocolTCP, ProtocolHTTPS, ProtocolHBONE, ProtocolTLS,
		ProtocolMongo, ProtocolRedis, ProtocolMySQL, ProtocolUnsupported:
		return false
	}
	return false
}
