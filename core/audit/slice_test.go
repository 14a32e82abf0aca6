package audit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/audit"
	"github.com/edsight/edsight/core/coretest"
)

// slice is a manifest of a slice in namespace shop.
func slice(name, meta, rest string) string {
	return fmt.Sprintf("---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: %s, namespace: shop, %s}\naddressType: IPv4\n%s\n", name, meta, rest)
}

const (
	ofWeb  = `labels: {kubernetes.io/service-name: web}`
	native = `labels: {kubernetes.io/service-name: web, endpointslice.kubernetes.io/managed-by: endpointslice-controller.k8s.io}`
	http   = `ports: [{name: http, port: 8080, protocol: TCP}]`
)

// many is endpoints with addresses from 10.2.x.0 on.
func many(x, n int) string {
	var b strings.Builder
	b.WriteString(http + "\nendpoints:\n")
	for i := range n {
		fmt.Fprintf(&b, "- {addresses: [10.2.%d.%d]}\n", x+i/250, i%250)
	}
	return b.String()
}

// TestSlices gives each finding beside what is like it and in order. A want of ""
// is no finding; else it is the kind, the object and what the message says.
func TestSlices(t *testing.T) {
	const podNotReady = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: web-1, namespace: shop, labels: {app: web}}\n" +
		"status: {phase: Running, podIP: 10.1.0.1, conditions: [{type: Ready, status: \"False\", lastTransitionTime: \"2026-01-02T03:04:05Z\"}]}\n"
	lag := func(manager, wrote string) string {
		return slice("web-abc12", native+`, annotations: {endpoints.kubernetes.io/last-change-trigger-time: "2026-01-02T03:04:05Z"}, managedFields: [{manager: `+
			manager+`, operation: Update, time: "`+wrote+`"}]`, http)
	}
	fragments := ""
	for i := range 5 {
		fragments += slice(fmt.Sprintf("web-f%d", i), native, many(i, 1))
	}
	for name, c := range map[string]struct{ manifest, kind, object, message string }{
		"selector with Pods":           {"", "", "", ""},
		"selector without":             {"---\napiVersion: v1\nkind: Service\nmetadata: {name: idle, namespace: shop}\nspec: {clusterIP: 10.96.0.8, selector: {app: idle}, ports: [{port: 80}]}\n", "selects-nothing", "idle", "app=idle"},
		"ExternalName with a selector": {"---\napiVersion: v1\nkind: Service\nmetadata: {name: idle, namespace: shop}\nspec: {type: ExternalName, externalName: a.b, selector: {app: idle}}\n", "", "", ""},
		"label of no service":          {slice("web-zz", "labels: {kubernetes.io/service-name: wed}", http+"\nendpoints: [{addresses: [10.2.0.1]}]"), "wrong-service", "web-zz", "no Service is called wed"},
		"no label":                     {slice("web-zz", "labels: {a: b}", http+"\nendpoints: [{addresses: [10.2.0.1]}]"), "wrong-service", "web-zz", "no kubernetes.io/service-name label"},
		"FQDN":                         {strings.Replace(slice("web-zz", ofWeb, http+"\nendpoints: [{addresses: [a.b]}]"), "IPv4", "FQDN", 1), "ignored-slice", "web-zz", "FQDN"},
		"no ports":                     {slice("web-zz", ofWeb, "ports: []\nendpoints: [{addresses: [10.2.0.1]}]"), "ignored-slice", "web-zz", "no ports"},
		"Pod not there":                {slice("web-zz", ofWeb, http+"\nendpoints: [{addresses: [10.2.0.1], targetRef: {kind: Pod, name: gone, namespace: shop}}, {addresses: [10.2.0.2], targetRef: {kind: Pod, name: gone2, namespace: shop}}]"), "stale-endpoint", "web-zz", "10.2.0.1 and 1 other: the slice's targetRef names a Pod that is not there (yet, or any more) (Pod/shop/gone)"},
		"another Pod's address":        {slice("web-zz", ofWeb, http+"\nendpoints: [{addresses: [10.2.0.1], targetRef: {kind: Pod, name: web-1, namespace: shop}}]"), "stale-endpoint", "web-zz", "Pod/shop/web-1 has the address 10.1.0.1"},
		"Pod is not ready":             {podNotReady, "stale-readiness", "web-abc12", "Pod/shop/web-1 is not"},
		"Pod is not ready, published":  {podNotReady + "---\napiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {clusterIP: 10.96.0.9, publishNotReadyAddresses: true, selector: {app: web}, ports: [{name: http, port: 80}]}\n", "", "", ""},
		"port name":                    {slice("web-zz", ofWeb, "ports: [{name: web, port: 8080}]\nendpoints: [{addresses: [10.2.0.1]}]"), "unknown-port", "web-zz", `"web", those of the Service "http"`},
		"listed twice":                 {slice("web-zz", ofWeb, http+"\nendpoints: [{addresses: [10.1.0.1]}]"), "duplicate-address", "web-zz", "10.1.0.1: web-abc12 lists the same"},
		"mirrored":                     {slice("web-abc12", native, many(0, 1)) + slice("web-m", strings.Replace(native, "endpointslice-", "endpointslicemirroring-", 1), many(1, 1)), "mixed-managers", "web-m", "endpointslice-controller.k8s.io and by endpointslicemirroring-controller.k8s.io"},
		"100 endpoints":                {slice("web-abc12", native, many(0, 100)), "", "", ""},
		"101 endpoints":                {slice("web-abc12", native, many(0, 101)), "over-maximum", "web-abc12", "101 endpoints"},
		"101 endpoints by hand":        {slice("web-abc12", ofWeb, many(0, 101)), "", "", ""},
		"1,001 endpoints":              {slice("web-abc12", ofWeb, many(0, 1001)), "over-maximum", "web-abc12", "at most 1000"},
		"fragments":                    {"---\n$op: delete\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: web-abc12, namespace: shop}\n" + fragments, "fragmented", "web-f0", "5 endpoints are in 5 slices"},
		"all have hints":               {slice("web-abc12", ofWeb, http+"\nendpoints: [{addresses: [10.2.0.1], zone: a, hints: {forZones: [{name: a}]}}]"), "", "", ""},
		"one has no hint":              {slice("web-abc12", ofWeb, http+"\nendpoints: [{addresses: [10.2.0.1], zone: a, hints: {forZones: [{name: a}]}}, {addresses: [10.2.0.2], zone: a}]"), "hints-without-zones", "web-abc12", "1 of 2 endpoints have no hint"},
		"hints without a zone":         {slice("web-abc12", ofWeb, http+"\nendpoints: [{addresses: [10.2.0.1], hints: {forZones: [{name: a}]}}]"), "hints-without-zones", "web-abc12", "1 of 1 endpoints with hints name no zone"},
		"written in time":              {lag("kube-controller-manager", "2026-01-02T03:04:06Z") + "endpoints: [{addresses: [10.2.0.1]}]\n", "", "", ""},
		"written late":                 {lag("kube-controller-manager", "2026-01-02T03:04:47Z") + "endpoints: [{addresses: [10.2.0.1]}]\n", "controller-lag", "web-abc12", "42s after"},
		"labelled later":               {lag("kubectl", "2026-01-02T03:04:47Z") + "endpoints: [{addresses: [10.2.0.1]}]\n", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			core := coretest.New(t)
			core.Apply(shop)
			if c.manifest != "" {
				core.Apply(c.manifest)
			}
			expectFinding(t, audit.Slices(core.Snapshot(), core.Store.Get), c.kind, c.object, c.message)
		})
	}
}

func expectFinding(t *testing.T, got []audit.Finding, kind, object, message string) {
	t.Helper()
	if kind == "" {
		if len(got) > 0 {
			t.Errorf("a finding where there is none: %+v", got)
		}
		return
	}
	if len(got) != 1 {
		t.Fatalf("%d findings, not 1: %+v", len(got), got)
	}
	f := got[0]
	if string(f.Kind) != kind || f.Object.Name != object || !strings.Contains(f.Message, message) || f.Remedy == "" || f.Kind.Text() == kind {
		t.Errorf("the finding is %+v, not %s of %s with %q", f, kind, object, message)
	}
}

// TestSlicesAlone finds without objects what the snapshot tells by itself.
func TestSlicesAlone(t *testing.T) {
	core := coretest.New(t)
	core.Apply(shop)
	core.Apply(slice("web-zz", ofWeb, http+"\nendpoints: [{addresses: [10.1.0.1]}]") + slice("web-yy", "labels: {a: b}", http+"\nendpoints: [{addresses: [10.2.0.1]}]"))
	got := audit.Slices(core.Snapshot(), nil)
	if len(got) != 2 || got[0].Kind != audit.WrongService || got[1].Kind != audit.DuplicateAddress {
		t.Errorf("the findings are %+v", got)
	}
}

// TestMeant names the Service that a slice with a wrong label is named after.
func TestMeant(t *testing.T) {
	core := coretest.New(t)
	core.Apply(shop + slice("web-zz", "labels: {kubernetes.io/service-name: wed}", http+"\nendpoints: [{addresses: [10.2.0.1]}]"))
	if got := audit.Slices(core.Snapshot(), core.Store.Get); len(got) != 1 || !strings.Contains(got[0].Remedy, "did you mean web?") {
		t.Errorf("the findings are %+v", got)
	}
}
