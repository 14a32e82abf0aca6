package eds_test

import (
	"testing"

	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
)

// The metadata tlsMode is that of the endpoint if mTLS is used, which the
// client's rule decides, else the workload and its PeerAuthentications (fact 13).
func TestTLSMode(t *testing.T) {
	off := eds.NewPeerAuth([]eds.PeerRule{{Disable: true}})
	tests := []struct {
		name string
		mode string
		view func(*eds.View)
		want string
	}{
		{"injected", "istio", func(*eds.View) {}, "istio"},
		{"not injected", "disabled", func(*eds.View) {}, ""},
		{"no label", "", func(*eds.View) {}, ""},
		{"some other text", "strange", func(*eds.View) {}, ""},
		{"rule says mutual", "istio", func(v *eds.View) { v.TLS = eds.TLSMutual }, "istio"},
		{"rule says mutual, workload cannot", "disabled", func(v *eds.View) { v.TLS = eds.TLSMutual }, ""},
		{"rule says mutual, other text", "strange", func(v *eds.View) { v.TLS = eds.TLSMutual }, "strange"},
		{"rule says simple", "istio", func(v *eds.View) { v.TLS = eds.TLSOther }, ""},
		{"peers disabled", "istio", func(v *eds.View) { v.PeerAuth = off }, ""},
		{"peers disabled, rule says mutual", "istio", func(v *eds.View) { v.PeerAuth, v.TLS = off, eds.TLSMutual }, "istio"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := eds.Build(service(pod("10.0.0.1", tlsMode(tt.mode))), view(tt.view))
			if got := a.Localities[0].Endpoints[0].TLSMode; got != tt.want {
				t.Errorf("tlsMode %q, want %q", got, tt.want)
			}
		})
	}
}

// The first rule that selects the workload holds; its ports go before the rest.
func TestPeerAuth(t *testing.T) {
	rules := eds.NewPeerAuth([]eds.PeerRule{
		{Selector: model.Labels{"app": "a"}, Disable: true, Ports: map[string]bool{"9090": false}},
		{Selector: model.Labels{"app": "b"}, Ports: map[string]bool{"9090": true}},
		{Disable: true},
	})
	tests := []struct {
		app  string
		port uint32
		want string
	}{
		{"a", 8080, ""},
		{"a", 9090, "istio"},
		{"b", 8080, "istio"},
		{"b", 9090, ""},
		{"c", 8080, ""},
	}
	for _, tt := range tests {
		c := pod("10.0.0.1", labelled("app", tt.app), func(e *model.Endpoint) { e.Port = tt.port })
		a := eds.Build(service(c), view(func(v *eds.View) { v.PeerAuth = rules }))
		if got := a.Localities[0].Endpoints[0].TLSMode; got != tt.want {
			t.Errorf("app %s port %d: tlsMode %q, want %q", tt.app, tt.port, got, tt.want)
		}
	}
}

func TestPeerAuthWithoutDisableIsNothing(t *testing.T) {
	p := eds.NewPeerAuth([]eds.PeerRule{{Selector: model.Labels{"app": "a"}, Ports: map[string]bool{"1": false}}, {}})
	if p != "" {
		t.Errorf("rules that change nothing make views differ: %q", p)
	}
}

func TestPassthroughNeedsMTLS(t *testing.T) {
	a := eds.Build(service(pod("10.0.0.1"), pod("10.0.0.2", tlsMode("disabled"))), view(func(v *eds.View) { v.MTLSOnly = true }))
	expectSent(t, a, " p0 w1 [10.0.0.1*1]")
	expectReasons(t, a, 0, model.ReasonPassthroughWithoutMTLS)
}
