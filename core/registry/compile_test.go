package registry_test

import (
	"testing"

	"github.com/edsight/edsight/core/coretest"
)

// TestStraysThatStayAreNoDifference: a slice without a service is in the diff if it
// differs, not if it was looked at again.
func TestStraysThatStayAreNoDifference(t *testing.T) {
	c := coretest.New(t)
	slice := func(version, address string) string {
		return `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: stray, namespace: shop, resourceVersion: '` + version + `'}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints: [{addresses: [` + address + `]}]
`
	}
	c.Apply(slice("1", "10.0.0.1"))
	c.Apply(proxyPod("Kubernetes", "web-0", "containers: [{name: app}]", "Running"))
	for what, text := range map[string]string{
		"a namespace": "{apiVersion: v1, kind: Namespace, metadata: {name: ops, labels: {a: b}}}",
		"its Pod":     proxyPod("Kubernetes", "web-0", "containers: [{name: app}], hostNetwork: true", "Running"),
	} {
		if tr := c.Apply(text); tr != nil && len(tr.Diff.Strays) > 0 {
			t.Errorf("a change of %s changes %v", what, tr.Diff.Strays)
		}
	}
	if tr := c.Apply(slice("2", "10.0.0.2")); tr == nil || len(tr.Diff.Strays) != 1 {
		t.Errorf("a change of the slice gives %+v", tr)
	}
}
