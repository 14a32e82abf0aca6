package scope_test

import (
	"slices"
	"testing"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/scope"
)

// TestGatewayServersOfConnections listen if a route leads on from them.
func TestGatewayServersOfConnections(t *testing.T) {
	const tcp, tls, terminated, own = 9000, 9443, 9444, 9001
	gw := &networkingv1.Gateway{ObjectMeta: meta("gw", "edge", 0), Spec: networking.Gateway{Servers: []*networking.Server{
		{Port: &networking.Port{Number: tcp, Protocol: "TCP"}, Hosts: []string{"*.example"}},
		{Port: &networking.Port{Number: tls, Protocol: "TLS"}, Hosts: []string{"shop/a.example"}, Tls: &networking.ServerTLSSettings{}},
		{Port: &networking.Port{Number: terminated, Protocol: "TLS"}, Hosts: []string{"a.example"}, Bind: "10.0.0.9", Tls: &networking.ServerTLSSettings{Mode: networking.ServerTLSSettings_SIMPLE}},
		{Port: &networking.Port{Number: own, Protocol: "TCP"}, Hosts: []string{"./c.example"}},
	}}}
	to := []*networking.RouteDestination{{Destination: &networking.Destination{Host: "web"}}}
	byTCP := func(m ...*networking.L4MatchAttributes) func(*networking.VirtualService) {
		return func(v *networking.VirtualService) { v.Tcp = []*networking.TCPRoute{{Match: m, Route: to}} }
	}
	byTLS := func(m *networking.TLSMatchAttributes) func(*networking.VirtualService) {
		return func(v *networking.VirtualService) {
			v.Tls = []*networking.TLSRoute{{Match: []*networking.TLSMatchAttributes{m}, Route: to}}
		}
	}
	for name, c := range map[string]struct {
		namespace, host, gateway string
		change                   func(*networking.VirtualService)
		want                     []uint32
	}{
		"no route":          {"shop", "a.example", "edge/gw", func(*networking.VirtualService) {}, nil},
		"TCP":               {"shop", "a.example", "edge/gw", byTCP(), []uint32{tcp, terminated}},
		"TCP, short name":   {"edge", "a.example", "gw", byTCP(), []uint32{tcp, terminated}},
		"another's gateway": {"shop", "a.example", "gw", byTCP(), nil},
		"another host":      {"shop", "b.example", "edge/gw", byTCP(), []uint32{tcp}},
		"a port":            {"shop", "a.example", "edge/gw", byTCP(&networking.L4MatchAttributes{Port: 1}, &networking.L4MatchAttributes{Port: tcp}), []uint32{tcp}},
		"a gateway":         {"shop", "a.example", "edge/gw", byTCP(&networking.L4MatchAttributes{Gateways: []string{"mesh"}}), nil},
		"own namespace":     {"edge", "c.example", "gw", byTCP(), []uint32{tcp, own}},
		"not its namespace": {"shop", "c.example", "edge/gw", byTCP(), []uint32{tcp}},
		"TLS":               {"shop", "a.example", "edge/gw", byTLS(&networking.TLSMatchAttributes{SniHosts: []string{"a.example"}}), []uint32{tls}},
		"TLS at a port":     {"shop", "a.example", "edge/gw", byTLS(&networking.TLSMatchAttributes{Port: 443}), nil},
		"TLS elsewhere":     {"ops", "a.example", "edge/gw", byTLS(&networking.TLSMatchAttributes{}), nil},
		"private":           {"shop", "a.example", "edge/gw", func(v *networking.VirtualService) { byTCP()(v); v.ExportTo = []string{"."} }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			route := routeTo("r", c.namespace, c.host, nil, func(v *networking.VirtualService) {
				v.Gateways, v.Http = []string{c.gateway}, nil
				c.change(v)
			})
			var got []uint32
			for _, l := range scope.GatewayListeners(snapshot(t, gw, route), router("edge")) {
				if got = append(got, l.Port); l.HTTP || !l.TCP || (l.Bind != "") != (l.Port == terminated) {
					t.Errorf("listener %+v", l)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("listens on %v, want %v", got, c.want)
			}
		})
	}
}
