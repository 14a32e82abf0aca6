package scope_test

import (
	"testing"

	meshconfig "istio.io/api/mesh/v1alpha1"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/scope"
)

// What is public is so for services and VirtualServices alike, each by the mesh's
// default of its own.
func TestPublic(t *testing.T) {
	tests := []struct {
		name                  string
		exportTo, meshDefault []string
		want                  bool
	}{
		{"nothing said", nil, nil, true},
		{"public by default", nil, []string{"*"}, true},
		{"private by default", nil, []string{"."}, false},
		{"private goes before public by default", nil, []string{"*", "."}, false},
		{"a namespace does not count by default", nil, []string{"shop"}, false},
		{"public", []string{"*"}, []string{"."}, true},
		{"public goes before nobody", []string{"~", "*"}, nil, true},
		{"private", []string{"."}, []string{"*"}, false},
		{"some namespaces", []string{"shop", "bank"}, nil, false},
		{"nobody", []string{"~"}, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := kube("web", "shop")
			d.ExportTo = tt.exportTo
			services := mesh(func(c *meshconfig.MeshConfig) {
				c.DefaultServiceExportTo, c.DefaultVirtualServiceExportTo = tt.meshDefault, []string{"~"}
			})
			if got := scope.ServiceExports(services, d).Public(); got != tt.want {
				t.Errorf("the service is public: %t, want %t", got, tt.want)
			}
			vs := &networkingv1.VirtualService{ObjectMeta: meta("web", "shop", 0)}
			vs.Spec.ExportTo = tt.exportTo
			routes := mesh(func(c *meshconfig.MeshConfig) {
				c.DefaultVirtualServiceExportTo, c.DefaultServiceExportTo = tt.meshDefault, []string{"~"}
			})
			if got := scope.VirtualServiceExports(routes, vs).Public(); got != tt.want {
				t.Errorf("the VirtualService is public: %t, want %t", got, tt.want)
			}
			if seen := scope.For(snapshot(t, services, d), client("other")).Import(webHost) != nil; tt.want && !seen {
				t.Error("it is public, and a client does not see it")
			}
		})
	}
}
