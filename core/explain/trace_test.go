package explain_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/registry"
)

// TestTraceSpellings asks for one address in several ways.
func TestTraceSpellings(t *testing.T) {
	b := newBench(t, registry.Features{})
	b.put(t, `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.1, ports: [{name: http, port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv6
ports: [{name: http, port: 8080}]
endpoints: [{addresses: ['2001:db8::1']}]
`, "Kubernetes")
	b.store.Attach(b.core)
	b.core.Flush()
	for _, address := range []string{"2001:db8::1", "2001:DB8:0::1", "[2001:db8::1]", "[2001:db8:0::1]:8080"} {
		tr := b.explainer.Trace(b.core.Snapshot(), address, nil)
		if len(tr.Offers) != 1 || tr.Address != "2001:db8::1" {
			t.Errorf("%s: %d objects list %s", address, len(tr.Offers), tr.Address)
		}
	}
}

// TestTraceOfNames asks about names: of a Pod, and such as stand for no address.
func TestTraceOfNames(t *testing.T) {
	b := newBench(t, registry.Features{})
	b.load(t, readCase(t, "testdata/address-of-pod.yaml"))
	for name, want := range map[string]string{
		"client/web-0": "",
		"10.99.0.1":    "",
		"twin":         "twin is no IP address, and Pod client/twin and Pod pay/twin are called so",
		"late":         "late is no IP address, and Pod client/late, which is called so, has none",
		"nobody":       "nobody is no IP address",
	} {
		if tr := b.explainer.Trace(b.core.Snapshot(), name, nil); tr.Note != want {
			t.Errorf("%s: %q, want %q", name, tr.Note, want)
		}
	}
	hidden := b.explainer.Trace(b.core.Snapshot(), "late", func(namespace string) bool { return namespace == "pay" })
	if want := "late is no IP address"; hidden.Note != want {
		t.Errorf("to who may not see the Pod: %q, want %q", hidden.Note, want)
	}
}

// TestTraceOfGateway asks about the name of a gateway between networks, which is no
// Pod's.
func TestTraceOfGateway(t *testing.T) {
	b := newBench(t, registry.Features{})
	b.load(t, readCase(t, "testdata/network-gateway-name.yaml"))
	if tr := b.explainer.Trace(b.core.Snapshot(), "gw.example.com", nil); tr.Note != "" {
		t.Errorf("a gateway: %s", tr.Note)
	}
}

// TestTraceCountsAll asks for an address in a mesh of more groups of proxies than are
// listed: what is listed and what is not together are all proxies.
func TestTraceCountsAll(t *testing.T) {
	var docs strings.Builder
	docs.WriteString(`
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.1, ports: [{name: http, port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints: [{addresses: [10.0.0.1]}]
`)
	for i := range 60 {
		fmt.Fprintf(&docs, `---
apiVersion: v1
kind: Pod
metadata: {name: client, namespace: team-%d}
spec: {containers: [{name: istio-proxy}]}
status: {phase: Running, podIP: 10.1.0.%d}
`, i, i+1)
	}
	b := newBench(t, registry.Features{})
	b.store.Attach(b.core)
	b.put(t, docs.String(), "Kubernetes")
	b.core.Flush()
	proxies, listed := 0, 0
	for range b.core.Snapshot().Proxies() {
		proxies++
	}
	tr := b.explainer.Trace(b.core.Snapshot(), "10.0.0.1", nil)
	for _, h := range tr.Holders {
		listed += h.Count
	}
	if listed+tr.Unlisted != proxies || tr.Unlisted == 0 {
		t.Errorf("%d answers are listed and %d are not, of %d", listed, tr.Unlisted, proxies)
	}
}

// TestTraceOfTwoDefinitions has a host that is defined twice, each with the address:
// every proxy counts once, whichever of the two it uses, or neither.
func TestTraceOfTwoDefinitions(t *testing.T) {
	var docs strings.Builder
	for _, ns := range []string{"shop", "pay"} {
		fmt.Fprintf(&docs, `---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: api, namespace: %s}
spec: {hosts: [api.example.com], resolution: STATIC, exportTo: [., other], ports: [{name: http, number: 80, protocol: HTTP}], endpoints: [{address: 10.9.9.9}]}
`, ns)
	}
	for i, ns := range []string{"shop", "pay", "other", "nobody"} {
		fmt.Fprintf(&docs, `---
apiVersion: v1
kind: Pod
metadata: {name: client, namespace: %s}
spec: {containers: [{name: istio-proxy}]}
status: {phase: Running, podIP: 10.1.0.%d}
`, ns, i+10)
	}
	b := newBench(t, registry.Features{})
	b.put(t, docs.String(), "Kubernetes")
	b.store.Attach(b.core)
	b.core.Flush()
	asked := map[string]int{}
	for _, h := range b.explainer.Trace(b.core.Snapshot(), "10.9.9.9", nil).Holders {
		for _, p := range h.Proxies {
			asked[p]++
		}
	}
	for p := range b.core.Snapshot().Proxies() {
		if asked[p.ID] != 1 {
			t.Errorf("%s is counted %d times", p.ID, asked[p.ID])
		}
	}
}

// TestTraceOfMany asks for an address that more objects offer than are listed.
func TestTraceOfMany(t *testing.T) {
	const services = 230
	var docs strings.Builder
	for i := range services {
		fmt.Fprintf(&docs, `---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: e%[1]d, namespace: shop}
spec: {hosts: [e%[1]d.example.com], resolution: STATIC, ports: [{name: http, number: 80, protocol: HTTP}], endpoints: [{address: 10.9.9.9}]}
`, i)
	}
	b := newBench(t, registry.Features{})
	b.put(t, docs.String(), "Kubernetes")
	b.store.Attach(b.core)
	b.core.Flush()
	tr := b.explainer.Trace(b.core.Snapshot(), "10.9.9.9", nil)
	answers := tr.Unlisted
	for _, h := range tr.Holders {
		answers += h.Count
	}
	if len(tr.Offers)+tr.MoreOffers != services || tr.MoreOffers == 0 || answers != services {
		t.Errorf("%d offers are listed and %d are not, of %[3]d; %[4]d answers of as many", len(tr.Offers), tr.MoreOffers, services, answers)
	}
}
