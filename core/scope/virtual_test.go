package scope_test

import (
	"fmt"
	"testing"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
)

func TestVirtualServiceOfAHost(t *testing.T) {
	c := coretest.New(t)
	vs := func(namespace, name, hosts, more string) string {
		return fmt.Sprintf("---\napiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: %s, namespace: %s}\n"+
			"spec: {hosts: [%s], %s http: [{route: [{destination: {host: web}}]}]}\n", name, namespace, hosts, more)
	}
	c.Apply(vs("shop", "all", `"*"`, "") + vs("shop", "shop", `"*.shop.svc.cluster.local"`, "") + vs("shop", "web", "web", "") +
		vs("bank", "private", "web.shop.svc.cluster.local", `exportTo: ["."],`) + vs("shop", "edge", "api.shop.svc.cluster.local", "gateways: [edge],") +
		`---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: small, namespace: shop}
spec: {workloadSelector: {labels: {app: small}}, egress: [{hosts: ["./api.shop.svc.cluster.local", "bank/*"]}]}
`)
	snap := c.Snapshot()
	for _, tt := range []struct{ namespace, app, host, want string }{
		{"shop", "", "web.shop.svc.cluster.local", "web"},
		{"shop", "", "api.shop.svc.cluster.local", "shop"},
		{"shop", "", "api.example.com", "all"},
		{"bank", "", "web.shop.svc.cluster.local", "private"},
		{"shop", "small", "web.shop.svc.cluster.local", "shop"}, // its own is not imported
	} {
		p := &model.Proxy{Type: model.Sidecar, Namespace: tt.namespace, Labels: model.Labels{"app": tt.app}}
		key, ok := scope.For(snap, p).VirtualService(model.Hostname(tt.host))
		if !ok || key.Name != tt.want {
			t.Errorf("%s of %s %q: %v, want %s", tt.host, tt.namespace, tt.app, key, tt.want)
		}
	}
	p := &model.Proxy{Type: model.Sidecar, Namespace: "shop"}
	empty := coretest.New(t)
	if key, ok := scope.For(empty.Snapshot(), p).VirtualService("web.shop.svc.cluster.local"); ok {
		t.Errorf("%v, want none", key)
	}
}
