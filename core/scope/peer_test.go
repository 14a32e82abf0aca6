package scope_test

import (
	"testing"

	security "istio.io/api/security/v1beta1"
	typev1beta1 "istio.io/api/type/v1beta1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
)

// What turns mTLS off is the object in which the mode is written, from which others
// may inherit it.
func TestDisablingPeer(t *testing.T) {
	const (
		disable = security.PeerAuthentication_MutualTLS_DISABLE
		strict  = security.PeerAuthentication_MutualTLS_STRICT
		unset   = security.PeerAuthentication_MutualTLS_UNSET
	)
	app := func(p *security.PeerAuthentication) {
		p.Selector = &typev1beta1.WorkloadSelector{MatchLabels: map[string]string{"app": "a"}}
	}
	port := func(m security.PeerAuthentication_MutualTLS_Mode) func(*security.PeerAuthentication) {
		return func(p *security.PeerAuthentication) {
			p.PortLevelMtls = map[uint32]*security.PeerAuthentication_MutualTLS{80: {Mode: m}}
		}
	}
	for _, tt := range []struct {
		name string
		list []any
		want string // namespace/name, "" if none
	}{
		{"none", nil, ""},
		{"mesh", []any{peer("m", "istio-system", 0, disable)}, "istio-system/m"},
		{"inherited of the mesh", []any{peer("m", "istio-system", 0, disable), peer("n", "shop", 0, unset), peer("w", "shop", 0, unset, app)}, "istio-system/m"},
		{"inherited of the namespace", []any{peer("n", "shop", 0, disable), peer("w", "shop", 0, unset, app, port(unset))}, "shop/n"},
		{"workload", []any{peer("n", "shop", 0, disable), peer("w", "shop", 0, disable, app)}, "shop/w"},
		{"workload against the namespace", []any{peer("n", "shop", 0, disable), peer("w", "shop", 0, strict, app)}, ""},
		{"port", []any{peer("n", "shop", 0, disable), peer("w", "shop", 0, strict, app, port(disable))}, "shop/w"},
		{"port against the workload", []any{peer("w", "shop", 0, disable, app, port(strict))}, ""},
		{"the older of two", []any{peer("young", "shop", 9, disable, app), peer("old", "shop", 1, disable, app)}, "shop/old"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := &model.Endpoint{Port: 80, Workload: &model.Workload{Labels: model.Labels{"app": "a"}}}
			key, ok := scope.For(snapshot(t, tt.list...), client("client")).DisablingPeer("shop", e)
			have := ""
			if ok {
				have = key.Namespace + "/" + key.Name
			}
			if have != tt.want || (ok && key.Cluster == "") {
				t.Errorf("%s turns mTLS off, want %q", key, tt.want)
			}
		})
	}
}
