package eds

import (
	"iter"
	"net"
	"strconv"
	"strings"
	"sync"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/edsight/edsight/core/model"
)

const (
	metadataIstio       = "istio"
	metadataSocketMatch = "envoy.transport_socket_match"
	metadataOriginalDst = "envoy.filters.listener.original_dst"
	connectOriginate    = "connect_originate"
	fieldWorkload       = "workload"
	fieldTLSMode        = "tlsMode"
	fieldTunnel         = "tunnel"
	fieldLocal          = "local"
	unixPrefix          = "unix://"
	tunnelHTTP          = "http"
)

// finish adds what is computed on demand.
func finish(a *Assignment) *Assignment {
	a.bytes = sync.OnceValue(a.serialise)
	return a
}

// Bytes returns the serialised message. It is made once and must not be changed.
func (a *Assignment) Bytes() []byte {
	if a.bytes == nil {
		return nil
	}
	return a.bytes()
}

// Message returns a new message for xDS.
func (a *Assignment) Message() *endpointv3.ClusterLoadAssignment {
	m := &endpointv3.ClusterLoadAssignment{ClusterName: text(a.Cluster)}
	for _, l := range a.Localities {
		m.Endpoints = append(m.Endpoints, l.message())
	}
	return m
}

func (l *LocalityEndpoints) message() *endpointv3.LocalityLbEndpoints {
	m := &endpointv3.LocalityLbEndpoints{
		Locality:            &corev3.Locality{Region: text(l.Locality.Region), Zone: text(l.Locality.Zone), SubZone: text(l.Locality.Subzone)},
		Priority:            l.Priority,
		LoadBalancingWeight: weight(l.Weight),
		LbEndpoints:         make([]*endpointv3.LbEndpoint, 0, len(l.Endpoints)),
	}
	for i := range l.Endpoints {
		m.LbEndpoints = append(m.LbEndpoints, l.Endpoints[i].message())
	}
	return m
}

func (e *LbEndpoint) message() *endpointv3.LbEndpoint {
	return &endpointv3.LbEndpoint{
		HealthStatus:        healthMessage(e.Health),
		LoadBalancingWeight: weight(e.Weight),
		Metadata:            e.metadata(),
		HostIdentifier: &endpointv3.LbEndpoint_Endpoint{
			Endpoint: &endpointv3.Endpoint{Address: e.address(), AdditionalAddresses: e.additional()},
		},
	}
}

func (e *LbEndpoint) additional() []*endpointv3.Endpoint_AdditionalAddress {
	var out []*endpointv3.Endpoint_AdditionalAddress
	for o := range e.others() {
		out = append(out, &endpointv3.Endpoint_AdditionalAddress{Address: o.address()})
	}
	return out
}

// others are the endpoint at its other addresses. A tunnel leads to the first only.
func (e *LbEndpoint) others() iter.Seq[*LbEndpoint] {
	return func(yield func(*LbEndpoint) bool) {
		if e.Tunnel {
			return
		}
		for _, a := range e.More {
			if !yield(&LbEndpoint{Address: a, Port: e.Port}) {
				return
			}
		}
	}
}

func (e *LbEndpoint) metadata() *corev3.Metadata {
	fields := map[string]*structpb.Struct{}
	if e.Workload != "" {
		fields[metadataIstio] = structOf(fieldWorkload, e.Workload)
	}
	switch {
	case e.Tunnel:
		fields[metadataSocketMatch] = structOf(fieldTunnel, tunnelHTTP)
		fields[metadataOriginalDst] = structOf(fieldLocal, e.hostPort())
	case e.TLSMode != "":
		fields[metadataSocketMatch] = structOf(fieldTLSMode, e.TLSMode)
	}
	if len(fields) == 0 {
		return nil
	}
	return &corev3.Metadata{FilterMetadata: fields}
}

func (e *LbEndpoint) address() *corev3.Address {
	if e.Tunnel {
		return &corev3.Address{Address: &corev3.Address_EnvoyInternalAddress{EnvoyInternalAddress: &corev3.EnvoyInternalAddress{
			AddressNameSpecifier: &corev3.EnvoyInternalAddress_ServerListenerName{ServerListenerName: connectOriginate},
			EndpointId:           e.hostPort(),
		}}}
	}
	if e.Port == 0 {
		return &corev3.Address{Address: &corev3.Address_Pipe{
			Pipe: &corev3.Pipe{Path: text(strings.TrimPrefix(e.Address, unixPrefix))},
		}}
	}
	return &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
		Address: text(e.Address), PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: e.Port},
	}}}
}

func (e *LbEndpoint) hostPort() string {
	return net.JoinHostPort(text(e.Address), strconv.FormatUint(uint64(e.Port), 10))
}

func healthMessage(h model.HealthStatus) corev3.HealthStatus {
	switch h {
	case model.Healthy:
		return corev3.HealthStatus_HEALTHY
	case model.UnHealthy:
		return corev3.HealthStatus_UNHEALTHY
	case model.Draining:
		return corev3.HealthStatus_DRAINING
	case model.HealthUnset, model.Terminating:
	}
	return corev3.HealthStatus_UNKNOWN
}

func weight(w uint32) *wrapperspb.UInt32Value {
	if w == 0 {
		return nil
	}
	return wrapperspb.UInt32(w)
}

func structOf(key, value string) *structpb.Struct {
	return &structpb.Struct{Fields: map[string]*structpb.Value{key: structpb.NewStringValue(text(value))}}
}
