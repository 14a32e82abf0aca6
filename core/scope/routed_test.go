package scope_test

import (
	"testing"

	meshconfig "istio.io/api/mesh/v1alpha1"
	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// TestRoutedServices gives a router what its Gateways' routes and the mesh's
// providers name, if the mesh is so set, and else all that it sees.
func TestRoutedServices(t *testing.T) {
	mesh := state.DefaultMesh()
	mesh.Features.FilterGateways = true
	mesh.Config.ExtensionProviders = []*meshconfig.MeshConfig_ExtensionProvider{
		{Name: "a", Provider: &meshconfig.MeshConfig_ExtensionProvider_EnvoyExtAuthzGrpc{
			EnvoyExtAuthzGrpc: &meshconfig.MeshConfig_ExtensionProvider_EnvoyExternalAuthorizationGrpcProvider{Service: "ops/authz.ops.svc.cluster.local"},
		}},
		{Name: "b", Provider: &meshconfig.MeshConfig_ExtensionProvider_Zipkin{
			Zipkin: &meshconfig.MeshConfig_ExtensionProvider_ZipkinTracingProvider{Service: "trace.example"},
		}},
		{Name: "c", Provider: &meshconfig.MeshConfig_ExtensionProvider_EnvoyExtAuthzHttp{
			EnvoyExtAuthzHttp: &meshconfig.MeshConfig_ExtensionProvider_EnvoyExternalAuthorizationHttpProvider{Service: "wrong/web.shop.svc.cluster.local"},
		}},
	}
	gw := func(name, namespace, app string) *networkingv1.Gateway {
		return &networkingv1.Gateway{ObjectMeta: meta(name, namespace, 0), Spec: networking.Gateway{
			Selector: map[string]string{"app": app}, Servers: []*networking.Server{{Port: &networking.Port{Number: 80, Protocol: "HTTP"}}},
		}}
	}
	route := func(name, namespace, host, to string, gateways ...string) *networkingv1.VirtualService {
		return routeTo(name, namespace, host, &networking.Destination{Host: to}, func(v *networking.VirtualService) { v.Gateways = gateways })
	}
	delegating := route("root", "shop", "d.example", "", "mesh", "edge/gate")
	delegating.Spec.Http = []*networking.HTTPRoute{{Delegate: &networking.Delegate{Name: "inner", Namespace: "ops"}}}
	inner := routeTo("inner", "ops", "", &networking.Destination{Host: "inner"}, func(v *networking.VirtualService) { v.Hosts = nil })
	objects := []any{
		kube("web", "shop"), kube("cart", "shop"), kube("other", "shop"), kube("mesh", "shop"), kube("inner", "ops"), kube("authz", "ops"),
		exported(kube("hidden", "ops"), "."), entry("trace.example", "ops", 1),
		gw("gate", "edge", "edge"), gw("gate", "shop", "other"),
		route("a", "edge", "a.example", "web.shop.svc.cluster.local", "gate"), route("b", "shop", "b.example", "cart", "edge/gate"),
		route("c", "shop", "c.example", "other", "gate"), route("m", "shop", "m.example", "mesh"),
		route("h", "ops", "h.example", "hidden", "edge/gate"), delegating, inner,
	}
	edge := func(app string) *model.Proxy {
		p := router("edge")
		p.Labels["app"] = app
		return p
	}
	all := scope.For(snapshot(t, objects...), edge("edge"))
	if len(all.Imports) != 7 || all.Key.Gateways != "" {
		t.Errorf("without the feature: %s, key %+v", imports(all), all.Key)
	}
	snap := snapshot(t, append(objects, mesh)...)
	expectScope(t, scope.For(snap, edge("edge")),
		"ops/authz.ops:80 shop/cart.shop:80 ops/inner.ops:80 ops/trace.example:80 shop/web.shop:80",
		"ops/hidden.ops=not-exported shop/mesh.shop=not-routed shop/other.shop=not-routed")
	expectScope(t, scope.For(snap, edge("nobody")), "ops/authz.ops:80 ops/trace.example:80",
		"shop/cart.shop=not-routed ops/hidden.ops=not-exported ops/inner.ops=not-routed shop/mesh.shop=not-routed shop/other.shop=not-routed shop/web.shop=not-routed")
	var cache scope.Cache
	if a, b := cache.KeyOf(snap, edge("edge")), cache.KeyOf(snap, edge("other")); a == b || cache.Import(snap, a, "other.shop.svc.cluster.local") != nil ||
		cache.Import(snap, b, "other.shop.svc.cluster.local") == nil {
		t.Errorf("keys %+v and %+v give the same", a, b)
	}
	// Sidecars are not concerned.
	if got := len(scope.For(snap, client("edge")).Imports); got != 7 {
		t.Errorf("a sidecar has %d imports", got)
	}
}

// TestGatewaysOfTheOwnNamespace has Gateways be for routers of other namespaces,
// unless the mesh is so set that they are not.
func TestGatewaysOfTheOwnNamespace(t *testing.T) {
	for _, scoped := range []bool{false, true} {
		mesh := state.DefaultMesh()
		mesh.Features.ScopeGateways, mesh.Features.FilterGateways = scoped, true
		gateway := &networkingv1.Gateway{ObjectMeta: meta("gate", "shop", 0), Spec: networking.Gateway{Servers: []*networking.Server{{
			Port: &networking.Port{Number: 443, Protocol: "TLS"}, Tls: &networking.ServerTLSSettings{Mode: networking.ServerTLSSettings_AUTO_PASSTHROUGH},
		}}}}
		snap := snapshot(t, mesh, gateway)
		for namespace, want := range map[string]bool{"shop": true, "edge": !scoped} {
			p := router(namespace)
			s := scope.For(snap, p)
			if got := s.PassesThrough(p); got != want {
				t.Errorf("scoped %t: router of %s passes through: %t", scoped, namespace, got)
			}
			if got := len(scope.GatewayListeners(snap, p)) > 0; got != want {
				t.Errorf("scoped %t: router of %s has a listener: %t", scoped, namespace, got)
			}
			if got := s.Key.Gateways != ""; got != want {
				t.Errorf("scoped %t: router of %s has Gateways %q", scoped, namespace, s.Key.Gateways)
			}
		}
	}
}
