package facts

import (
	"slices"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/state"
)

// What changes in a Service decides whether proxies are told.
func TestPushesOfAService(t *testing.T) {
	const none = ", annotations: {networking.istio.io/exportTo: '~'}"
	ports := func(target string) string {
		return "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {clusterIP: 10.96.0.1, ports: [{name: http, port: 80, targetPort: " + target + "}], selector: {app: web}}"
	}
	for _, c := range []struct {
		name, before, after string
		want                state.PushType
	}{
		{"nothing", service("web", "", ""), service("web", "", ""), state.PushNone},
		{"a selector", service("web", "", ""), strings.Replace(service("web", "", ""), "app: web", "app: other", 1), state.PushFull},
		{"an address", service("web", "", ""), strings.Replace(service("web", "", ""), "10.96.0.1", "10.96.0.2", 1), state.PushFull},
		{"target ports", ports("8080"), ports("8081"), state.PushFull},
		{"target ports that stay", ports("8080"), ports("8080"), state.PushNone},
		{"a policy", service("web", "", ""), service("web", "", ", internalTrafficPolicy: Local"), state.PushFull},
		{"coming out of hiding", service("web", none, ""), service("web", "", ""), state.PushFull},
		{"going into hiding", service("web", "", ""), service("web", none, ""), state.PushFull},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMesh(t, c.before)
			got := state.PushNone
			if tr := m.Apply(c.after); tr != nil {
				got = tr.Push.Scope.Type
			}
			equal(t, "push", got, c.want)
		})
	}
}

// The way of one endpoint through health, and what is told of it.
func TestPushesOfAnEndpoint(t *testing.T) {
	const down, leaving = "ready: false, terminating: false", "ready: false, serving: false, terminating: true"
	for _, c := range []struct {
		features registry.Features
		sick     []string
		newcomer state.PushType
	}{
		{registry.Features{}, nil, state.PushNone},
		{registry.Features{SendUnhealthy: true}, []string{"10.0.0.2:8080/0"}, state.PushIncremental},
	} {
		m := with(t, c.features, service("web", "", ""), slice("a", at("10.0.0.1", "")))
		push := func(conditions string) state.PushType {
			return m.Apply(slice("a", at("10.0.0.1", ""), at("10.0.0.2", conditions))).Push.Scope.Type
		}
		equal(t, "push of a sick newcomer", push(down), c.newcomer)
		m.wantSent(webEDS, append([]string{"10.0.0.1:8080/0"}, c.sick...)...)
		equal(t, "push of its recovery", push(""), state.PushIncremental)
		m.wantSent(webEDS, "10.0.0.1:8080/0", "10.0.0.2:8080/0")
		equal(t, "push of its fall", push(down), state.PushIncremental)
		m.wantSent(webEDS, append([]string{"10.0.0.1:8080/0"}, c.sick...)...)
		push("")
		equal(t, "push of its end", push(leaving), state.PushIncremental)
		m.wantSent(webEDS, "10.0.0.1:8080/0")
		equal(t, "push of the last one's end", m.Apply(slice("a")).Push.Scope.Type, state.PushIncremental)
		m.wantSent(webEDS)
	}
}

// A Pod that is found by its address is the one that serves there now.
func TestAddressesThatPodsShare(t *testing.T) {
	m := newMesh(t, service("web", "", ""), slice("a", at("10.0.0.1", "")), pod("p1", "10.0.0.1", ""))
	workload := func() string { return m.endpoint(web).Workload.Name }
	equal(t, "workload", workload(), "p1")
	m.Apply(docs(strings.Replace(pod("p1", "10.0.0.1", ""), "phase: Running", "phase: Succeeded", 1), pod("p2", "10.0.0.1", "")))
	equal(t, "workload after the first finished", workload(), "p2")
	m.Apply(strings.Replace(pod("p1", "10.0.0.1", ""), "10.0.0.1", "10.0.0.9", 1))
	equal(t, "workload beside one of another address", workload(), "p2")
	m.Apply(remove(pod("p2", "", "")))
	equal(t, "workload of nobody", workload(), "")
	m.Apply(strings.Replace(pod("p3", "10.0.0.1", ""), "namespace: shop", "namespace: other", 1))
	equal(t, "workload of another namespace", workload(), "")
}

func TestResolutionOfAServiceEntryChanges(t *testing.T) {
	static := inline("addresses: [240.0.0.1], resolution: STATIC, " + httpPort + ", endpoints: [{address: 192.0.2.1}]")
	m := newMesh(t, static)
	m.wantSent(vmEDS, "192.0.2.1:80/0")
	push := m.Apply(strings.Replace(static, "STATIC", "DNS", 1))
	equal(t, "push", push.Push.Scope.Type, state.PushFull)
	m.wantInline(vmEDS, "192.0.2.1:80")
	m.Apply(strings.Replace(static, "STATIC", "NONE", 1))
	equal(t, "endpoints inside of a passthrough", m.clusters(client)[vmEDS].Inline == nil && m.clusters(client)[vmEDS].Assignment() == nil, true)
	m.Apply(static)
	m.wantSent(vmEDS, "192.0.2.1:80/0")
}

// A Service in two clusters has the definition of the first, and the addresses of
// both; each cluster's slices are read by its own definition.
func TestServiceInTwoClusters(t *testing.T) {
	local := service("web", "", "")
	remote := strings.Replace(service("web", ", labels: {a: b}, annotations: {networking.istio.io/exportTo: '~'}", ", trafficDistribution: PreferClose"), "10.96.0.1", "10.97.0.1", 1)
	m := newMesh(t, local, slice("a", at("10.0.0.1", "")), elsewhere(remote), elsewhere(slice("b", at("10.1.0.1", ""))))
	d := m.definition(web)
	equal(t, "addresses", d.VIPs["Kubernetes"][0]+" "+d.VIPs["east"][0], "10.96.0.1 10.97.0.1")
	equal(t, "labels of the other", len(d.Labels), 0)
	equal(t, "distribution of the other", d.TrafficDistribution, model.DistributionAny)
	m.wantSent(webEDS, "10.0.0.1:8080/0")
	equal(t, "reason of those that are hidden there", m.reason(web, "10.1.0.1"), model.ReasonNotVisible)
	m.Apply(remove(local))
	equal(t, "address of the one that is left", m.definition(web).DefaultAddress, "10.97.0.1")
	equal(t, "cluster of one that is hidden everywhere", m.has(client, webEDS), false)
	m.Apply(elsewhere(strings.Replace(service("web", "", ""), "10.96.0.1", "10.97.0.1", 1)))
	m.wantSent(webEDS, "10.0.0.1:8080/0", "10.1.0.1:8080/0")
}

func TestImportsComeAndGo(t *testing.T) {
	const host, cluster = "web.shop.svc.clusterset.local", "outbound|80||web.shop.svc.clusterset.local"
	features := registry.Features{ServiceExports: true, ServiceImports: true}
	imported := func(ips string) string { return export("ServiceImport", "spec: {ips: ["+ips+"]}") }
	m := with(t, features, imported("10.99.0.2, 10.99.0.1"))
	equal(t, "an import without a Service", m.has(client, cluster), false)
	m.Apply(docs(service("web", "", ""), slice("a", at("10.0.0.1", ""))))
	equal(t, "the least of its addresses", m.definition(host).DefaultAddress, "10.99.0.1")
	m.wantSent(cluster, "10.0.0.1:8080/0")
	m.Apply(imported("10.99.0.3"))
	equal(t, "another address", m.definition(host).DefaultAddress, "10.99.0.3")
	m.Apply(service("web", ", labels: {a: b}", ""))
	equal(t, "a label of the Service", m.definition(host).Labels["a"], "b")
	m.Apply(imported(""))
	equal(t, "an import without addresses", m.has(client, cluster), false)
	m.Apply(docs(imported("10.99.0.1"), remove(service("web", "", ""))))
	equal(t, "an import of a Service that is gone", m.has(client, cluster), false)
}

// Namespaces are discovered by their labels; what is in others is not there.
func TestNamespacesComeIntoDiscovery(t *testing.T) {
	namespace := func(labels string) string {
		return "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {" + labels + "}}"
	}
	const selectors = "discoverySelectors: [{matchLabels: {env: prod}}, {matchExpressions: [{key: tag, operator: In, values: [canary, prod]}]}]"
	m := newMesh(t, meshConfig(selectors, ""), service("web", "", ""), slice("a", at("10.0.0.1", "")), vmEntry("number: 80"), vmAt("vm", "address: 192.0.2.1, labels: {app: vm}"))
	for _, c := range []struct {
		labels string
		want   bool
	}{{"env: test", false}, {"env: prod", true}, {"tag: canary", true}, {"tag: other", false}, {"tag: other, env: prod", true}, {"", false}} {
		m.Apply(namespace(c.labels))
		equal(t, "cluster of a Service with "+c.labels, m.has(client, webEDS), c.want)
		equal(t, "cluster of a ServiceEntry with "+c.labels, m.has(client, vmEDS), c.want)
		if c.want {
			m.wantSent(vmEDS, "192.0.2.1:80/0")
		}
	}
	m.Apply(meshConfig("{}", ""))
	m.wantSent(webEDS, "10.0.0.1:8080/0")
	if got := m.sent(client, vmEDS); !slices.Equal(got, []string{"192.0.2.1:80/0"}) {
		t.Errorf("without selectors %v is sent", got)
	}
}
