package facts

import (
	"slices"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// inline is a ServiceEntry in shop for e.example.com with a spec besides.
func inline(spec string) string {
	return entry("shop", "e", "", "hosts: [e.example.com], location: MESH_INTERNAL, "+spec)
}

const httpPort = "ports: [{name: http, protocol: HTTP, number: 80}]"

// inlineSent lists what is inside of the client's cluster, as "address:port".
func (m mesh) inlineSent(cluster string) []string {
	m.t.Helper()
	c := m.clusters(client)[cluster]
	if c == nil || c.Inline == nil {
		m.t.Fatalf("%s has no endpoints inside of %s", client, cluster)
	}
	out := []string{}
	for _, l := range c.Inline.Localities {
		for _, e := range l.Endpoints {
			out = append(out, sprintf("%s:%d", e.Address, e.Port))
		}
	}
	slices.Sort(out)
	return out
}

func (m mesh) wantInline(cluster string, want ...string) {
	m.t.Helper()
	if got := m.inlineSent(cluster); !slices.Equal(got, want) {
		m.t.Errorf("inside of %s are %v, want %v", cluster, got, want)
	}
}

func TestAddressesOfServiceEntries(t *testing.T) {
	for _, c := range []struct {
		addresses string
		want      []string
	}{
		{"", []string{"0.0.0.0"}},
		{"172.16.1.1", []string{"172.16.1.1"}},
		{"172.16.1.1/32", []string{"172.16.1.1"}},
		{"172.16.0.0/16", []string{"172.16.0.0/16"}},
		{"'2001:db8::1/128'", []string{"2001:db8::1"}},
		{"'2001:db8::/64'", []string{"2001:db8::/64"}},
		{"172.16.1.1, bad, 172.16.1.2", []string{"172.16.1.1", "172.16.1.2"}},
	} {
		m := newMesh(t, inline("addresses: ["+c.addresses+"], resolution: STATIC, "+httpPort))
		var got []string
		for _, d := range m.service("e.example.com").Definitions {
			got = append(got, d.DefaultAddress)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("addresses [%s] are %v, want %v", c.addresses, got, c.want)
		}
	}
}

// A host by DNS stands for itself unless it has endpoints or selects some.
func TestEndpointsByDNS(t *testing.T) {
	const e = "outbound|80||e.example.com"
	newMesh(t, inline("resolution: DNS, "+httpPort)).wantInline(e, "e.example.com:80")
	newMesh(t, inline("resolution: DNS, ports: [{name: http, protocol: HTTP, number: 80, targetPort: 8080}]")).wantInline(e, "e.example.com:8080")
	newMesh(t, inline("resolution: DNS_ROUND_ROBIN, "+httpPort)).wantInline(e, "e.example.com:80")
	m := newMesh(t, inline("resolution: DNS, "+httpPort+", endpoints: [{address: us.example.com, ports: {http: 8080}}, {address: uk.example.com, ports: {other: 1}}, {address: 192.0.2.1}]"))
	m.wantInline(e, "192.0.2.1:80", "uk.example.com:80", "us.example.com:8080")
	push := m.Apply(inline("resolution: DNS, " + httpPort + ", endpoints: [{address: us.example.com}]"))
	equal(t, "push of the endpoints in a cluster", push.Push.Scope.Type, state.PushFull)
	m.wantInline(e, "us.example.com:80")
	m = newMesh(t, inline("resolution: DNS, "+httpPort+", workloadSelector: {labels: {app: vm}}"))
	equal(t, "endpoints of one that selects", len(m.endpoints("e.example.com")), 0)
	push = m.Apply(vmAt("vm", "address: vm.example.com, labels: {app: vm}"))
	equal(t, "push of a workload in a cluster", push.Push.Scope.Type, state.PushFull)
	m.wantInline(e, "vm.example.com:80")
}

// What is inside of a ServiceEntry: names are no addresses of an EDS cluster, and
// a socket has no port.
func TestInlineEndpoints(t *testing.T) {
	m := newMesh(t, inline("addresses: [240.0.0.1], resolution: STATIC, ports: [{name: http, protocol: HTTP, number: 80, targetPort: 81}], endpoints: [{address: 192.0.2.1, ports: {http: 7080}}, {address: 192.0.2.2}, {address: name.example.com}, {address: 'unix:///run/s.sock'}]"))
	m.wantSent(vmEDS, "/run/s.sock:0/0", "192.0.2.1:7080/0", "192.0.2.2:81/0")
	equal(t, "reason of the name", m.assignment(client, vmEDS).Reasons[2], model.ReasonAddressNotIP)
}

func TestWeightsOfInlineEndpoints(t *testing.T) {
	m := newMesh(t, inline("addresses: [240.0.0.1], resolution: STATIC, "+httpPort+", endpoints: [{address: 192.0.2.1, weight: 7}, {address: 192.0.2.2}, {address: 192.0.2.3, weight: 4, locality: r/z/s}, {address: 192.0.2.4, weight: 4294967295}]"))
	if got, want := m.weights(client, vmEDS), []string{"192.0.2.1 7", "192.0.2.2 1", "192.0.2.3 4", "192.0.2.4 4294967295"}; !slices.Equal(got, want) {
		t.Errorf("the weights are %v, want %v", got, want)
	}
	equal(t, "weight of the locality, which is bounded", m.assignment(client, vmEDS).Localities[0].Weight, 1<<32-1)
	equal(t, "weight of the other", m.assignment(client, vmEDS).Localities[1].Weight, 4)
}

// Labels of the object count before those of the spec, a locality before the label
// for it, and the label of the TLS mode as it is written.
func TestLabelsOfWorkloadEntries(t *testing.T) {
	object := func(metadata, spec string) *model.Workload {
		m := newMesh(t, vmEntry("number: 80"), "apiVersion: networking.istio.io/v1\nkind: WorkloadEntry\nmetadata: {name: vm, namespace: shop"+metadata+"}\nspec: {address: 192.0.2.1"+spec+"}")
		return m.endpoint("e.example.com").Workload
	}
	w := object(", labels: {app: vm, version: outer}", ", labels: {version: inner, side: inner}")
	equal(t, "label of both", w.Labels["version"], "outer")
	equal(t, "label of the spec", w.Labels["side"], "inner")
	for _, c := range []struct{ spec, want string }{
		{", locality: r/z/s", "r/z/s"}, {", locality: r/z/s, labels: {istio-locality: a.b.c}", "r/z/s"}, {", labels: {istio-locality: a.b.c}", "a/b/c"}, {", labels: {istio-locality: a/b}", "a/b"}, {"", ""},
	} {
		equal(t, "locality with "+c.spec, object(", labels: {app: vm}", c.spec).LocalityLabel, c.want)
	}
	for _, c := range []struct{ spec, want string }{
		{", labels: {security.istio.io/tlsMode: ''}, serviceAccount: vm", ""}, {", labels: {security.istio.io/tlsMode: disabled}, serviceAccount: vm", "disabled"}, {", serviceAccount: vm", "istio"},
	} {
		equal(t, "TLS mode with "+c.spec, object(", labels: {app: vm}", c.spec).TLSMode, c.want)
	}
}

// What becomes of the services of a ServiceEntry when it changes.
func TestChangesOfServiceEntries(t *testing.T) {
	const rest = ", resolution: STATIC, location: MESH_INTERNAL, endpoints: [{address: 192.0.2.1}]"
	at := func(namespace, hosts, ports string) string {
		return entry(namespace, "e", "", "hosts: ["+hosts+"], addresses: [240.0.0.1], ports: ["+ports+"]"+rest)
	}
	const port = "{name: http, protocol: HTTP, number: 80}"
	clusters := func(m mesh) string {
		var out []string
		for name := range m.clusters(client) {
			if host, ok := strings.CutPrefix(name, "outbound|"); ok {
				out = append(out, strings.Replace(host, "||", " ", 1))
			}
		}
		slices.Sort(out)
		return strings.Join(out, ", ")
	}
	m := newMesh(t, at("shop", "a.example.com, b.example.com", port))
	equal(t, "clusters", clusters(m), "80 a.example.com, 80 b.example.com")
	equal(t, "push of a change of nothing", m.Apply(at("shop", "a.example.com, b.example.com", port)).Push.Scope.Type, state.PushNone)
	m.Apply(at("shop", "a.example.com, c.example.com", port))
	equal(t, "clusters with another host", clusters(m), "80 a.example.com, 80 c.example.com")
	push := m.Apply(at("shop", "a.example.com", port+", {name: alt, protocol: HTTP, number: 8080}"))
	equal(t, "push of another port", push.Push.Scope.Type, state.PushFull)
	equal(t, "clusters with another port", clusters(m), "80 a.example.com, 8080 a.example.com")
	m.Apply(entry("ns", "own", "", "hosts: [a.example.com], ports: [{name: tcp, protocol: TCP, number: 9}]"+rest))
	equal(t, "clusters by the own namespace", clusters(m), "9 a.example.com")
	m.Apply(remove(entry("ns", "own", "", "")))
	m.Apply(strings.Replace(at("shop", "a.example.com", port), "192.0.2.1", "192.0.2.2", 1))
	push = m.Apply(strings.Replace(at("shop", "a.example.com", port), "192.0.2.1", "192.0.2.3", 1))
	equal(t, "push of an address", push.Push.Scope.Type, state.PushIncremental)
	m.wantSent("outbound|80||a.example.com", "192.0.2.3:80/0")
	m.Apply(remove(at("shop", "", "")))
	equal(t, "clusters in the end", clusters(m), "")
}
