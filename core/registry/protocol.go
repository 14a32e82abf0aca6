package registry

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/edsight/edsight/core/model"
)

// portProtocol derives the protocol of a Kubernetes port from its appProtocol,
// else from the prefix of its name up to the first dash.
func portProtocol(p corev1.ServicePort) model.Protocol {
	if p.Protocol == corev1.ProtocolUDP {
		return model.ProtocolUDP
	}
	name := p.Name
	if p.AppProtocol != nil {
		name = *p.AppProtocol
		switch name {
		case "kubernetes.io/h2c":
			return model.ProtocolHTTP2
		case "kubernetes.io/ws":
			return model.ProtocolHTTP
		case "kubernetes.io/wss":
			return model.ProtocolHTTPS
		}
	}
	if strings.HasPrefix(strings.ToLower(name), "grpc-web") {
		return model.ProtocolGRPCWeb
	}
	name, _, _ = strings.Cut(name, "-")
	protocol := model.ParseProtocol(name)
	if protocol == model.ProtocolUnsupported && serverSpeaksFirst(p.Port) {
		return model.ProtocolTCP
	}
	return protocol
}

// serverSpeaksFirst tells of SMTP, DNS, MySQL and MongoDB, whose protocol cannot
// be detected by waiting for the client.
func serverSpeaksFirst(port int32) bool {
	switch port {
	case 25, 53, 3306, 27017:
		return true
	default:
		return false
	}
}
