package eds_test

import (
	"testing"

	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

func gateways(list ...state.Gateway) func(*eds.View) {
	return func(v *eds.View) { v.Gateways = eds.NewGateways(list) }
}

func proxyIn(n model.NetworkID) func(*eds.View) { return func(v *eds.View) { v.Network = n } }

func gateway(network model.NetworkID, address string) state.Gateway {
	return state.Gateway{Network: network, Addr: address, Port: 15443}
}

// Weights are multiplied by the least common multiple of the numbers of
// gateways, so that they can be divided (fact 35).
func TestGatewaysShareTheWeight(t *testing.T) {
	list := []state.Gateway{
		gateway("n2", "203.0.113.1"), gateway("n2", "203.0.113.2"),
		gateway("n3", "203.0.113.3"), gateway("n3", "203.0.113.4"), gateway("n3", "203.0.113.5"),
	}
	svc := service(
		pod("10.0.0.1", onNetwork("n1")), pod("10.0.0.2", onNetwork("n2")), pod("10.0.0.3", onNetwork("n2")), pod("10.0.0.4", onNetwork("n3")),
	)
	a := eds.Build(svc, view(gateways(list...), proxyIn("n1")))
	expectSent(t, a, " p0 w24 [10.0.0.1*6 203.0.113.1*6 203.0.113.2*6 203.0.113.3*2 203.0.113.4*2 203.0.113.5*2]")
	expectReasons(t, a, 0, model.ReasonReplacedByGateway, model.ReasonReplacedByGateway, model.ReasonReplacedByGateway)

	g := a.Localities[0].Endpoints[1]
	if g.Candidate != -1 || g.Port != 15443 || g.TLSMode != "istio" || g.Workload != ";;;;" || g.Health != model.HealthUnset {
		t.Errorf("gateway endpoint %+v", g)
	}
}

func TestGatewaysKeepTheLocality(t *testing.T) {
	svc := service(pod("10.0.0.1", onNetwork("n2"), in("r1/z1")), pod("10.0.0.2", onNetwork("n2"), in("r2/z2")))
	a := eds.Build(svc, view(gateways(gateway("n2", "203.0.113.1")), proxyIn("n1")))
	expectSent(t, a, "r1/z1 p0 w1 [203.0.113.1*1]; r2/z2 p0 w1 [203.0.113.1*1]")
}

// A gateway of the endpoint's cluster goes before those of its network.
func TestGatewayOfTheCluster(t *testing.T) {
	own := gateway("n2", "203.0.113.9")
	own.Cluster = "remote"
	svc := service(pod("10.0.0.1", onNetwork("n2"), inCluster("remote")), pod("10.0.0.2", onNetwork("n2"), inCluster("far")))
	a := eds.Build(svc, view(gateways(gateway("n2", "203.0.113.1"), own), proxyIn("n1")))
	expectSent(t, a, " p0 w4 [203.0.113.1*1 203.0.113.9*3]")
}

// Other networks without mTLS cannot be reached through a gateway (fact 36).
func TestOtherNetworkNeedsMTLS(t *testing.T) {
	svc := service(pod("10.0.0.1", onNetwork("n2"), tlsMode("disabled")))
	a := eds.Build(svc, view(gateways(gateway("n2", "203.0.113.1")), proxyIn("n1")))
	expectSent(t, a, " p0 w0 []")
	expectReasons(t, a, model.ReasonNetworkWithoutMTLS)

	off := func(v *eds.View) { v.PeerAuth = eds.NewPeerAuth([]eds.PeerRule{{Disable: true}}) }
	a = eds.Build(service(pod("10.0.0.1", onNetwork("n2"))), view(gateways(gateway("n2", "203.0.113.1")), proxyIn("n1"), off))
	expectReasons(t, a, model.ReasonNetworkWithoutMTLS)
}

// Without a gateway endpoints are sent as they are, and who has no network is in
// every one (fact 37).
func TestDirectReach(t *testing.T) {
	one := gateways(gateway("n9", "203.0.113.1"))
	tests := []struct {
		name  string
		proxy model.NetworkID
		pod   model.NetworkID
	}{
		{"network without gateway", "n1", "n2"},
		{"proxy without network", "", "n9"},
		{"endpoint without network", "n1", ""},
		{"same network", "n9", "n9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := eds.Build(service(pod("10.0.0.1", onNetwork(tt.pod))), view(one, proxyIn(tt.proxy)))
			expectSent(t, a, " p0 w1 [10.0.0.1*1]")
		})
	}
}

// Where there is one network, an endpoint without address is sent as it is;
// behind a gateway it need not have one; else it is left out.
func TestNoAddress(t *testing.T) {
	nameless := func(n model.NetworkID) *state.ServiceState { return service(pod("", onNetwork(n))) }
	expectSent(t, eds.Build(nameless("n1"), view()), " p0 w1 [*1]")
	two := []func(*eds.View){gateways(gateway("n2", "203.0.113.1")), proxyIn("n1")}
	expectSent(t, eds.Build(nameless("n2"), view(two...)), " p0 w1 [203.0.113.1*1]")
	a := eds.Build(nameless("n1"), view(two...))
	expectSent(t, a, " p0 w0 []")
	expectReasons(t, a, model.ReasonNoAddress)
}

func TestGatewaysComeBackAsTheyWere(t *testing.T) {
	list := []state.Gateway{gateway("n2", "gw.example.com"), {Network: "n3", Cluster: "c", Addr: "fd00::1", Port: 1}}
	got := eds.NewGateways(list).List()
	if len(got) != 2 || got[0] != list[0] || got[1] != list[1] {
		t.Errorf("got %+v, want %+v", got, list)
	}
	if none := eds.NewGateways(nil); none != "" || len(none.List()) != 0 {
		t.Errorf("no gateways are %q", none)
	}
}
