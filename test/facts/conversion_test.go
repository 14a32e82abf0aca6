package facts

import (
	"slices"
	"testing"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
)

func (m mesh) addresses(host string) [][]string {
	var out [][]string
	for _, e := range m.endpoints(host) {
		out = append(out, e.Addresses)
	}
	slices.SortFunc(out, slices.Compare)
	return out
}

func dualSlice(name, family string, endpoints ...string) string {
	port := "ports: [{name: http, port: 8080}]\naddressType: " + family
	return sliceOf(name, port, endpoints...)
}

// sliceOf is sliceWith with an address type of its own.
func sliceOf(name, more string, endpoints ...string) string {
	list := ""
	for _, e := range endpoints {
		list += e + ", "
	}
	return sprintf("apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: %s, namespace: shop, labels: {kubernetes.io/service-name: web}}\n%s\nendpoints: [%s]", name, more, list)
}

// In a mesh of two families an endpoint of a Pod has both of the Pod's addresses;
// one that names no Pod stays for itself.
func TestAddressesInAMeshOfTwoFamilies(t *testing.T) {
	const four, six, hand4, hand6 = "10.0.0.1", "'fd00::1'", "{addresses: [192.0.2.1]}", "{addresses: ['fd00::42']}"
	dual := service("web", "", ", clusterIPs: [10.96.0.1, 'fd00:96::1']")
	both := []string{"10.0.0.1", "fd00::1"}
	bare := func(a string) string { return "{addresses: [" + a + "]}" }
	for _, c := range []struct {
		name   string
		slices []string
		want   [][]string
	}{
		{"a slice of each", []string{dualSlice("a", "IPv4", of("web-1", four)), dualSlice("b", "IPv6", of("web-1", six))}, [][]string{both}},
		{"one slice", []string{dualSlice("a", "IPv4", of("web-1", four))}, [][]string{both}},
		{"the other slice alone", []string{dualSlice("b", "IPv6", of("web-1", six))}, nil},
		{"no targets", []string{dualSlice("a", "IPv4", bare(four), hand4), dualSlice("b", "IPv6", bare(six), hand6)}, [][]string{{"10.0.0.1"}, {"192.0.2.1"}, {"fd00::1"}, {"fd00::42"}}},
		{"some targets", []string{dualSlice("a", "IPv4", of("web-1", four), hand4), dualSlice("b", "IPv6", of("web-1", six), hand6)}, [][]string{both, {"192.0.2.1"}, {"fd00::42"}}},
		{"slices by hand beside", []string{dualSlice("a", "IPv4", of("web-1", four)), dualSlice("b", "IPv6", of("web-1", six)), dualSlice("c", "IPv4", hand4), dualSlice("d", "IPv6", hand6)}, [][]string{both, {"192.0.2.1"}, {"fd00::42"}}},
		{"a target that is not there", []string{dualSlice("a", "IPv4", of("web-1", four), of("nobody", "192.0.2.1"))}, [][]string{both}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := with(t, registry.Features{DualStack: true}, append(c.slices, dual, dualPod)...)
			if got := m.addresses(web); !slices.EqualFunc(got, c.want, slices.Equal) {
				t.Errorf("the endpoints are %v, want %v", got, c.want)
			}
		})
	}
}

// Without a target a Pod is found by its first address only.
func TestPodsAreFoundByTheirFirstAddress(t *testing.T) {
	m := newMesh(t, service("web", "", ""), dualPod, dualSlice("a", "IPv4", "{addresses: [10.0.0.1]}"), dualSlice("b", "IPv6", "{addresses: ['fd00::1']}"))
	for i, want := range []string{"web-1", ""} {
		equal(t, "workload of "+m.endpoints(web)[i].Address(), m.endpoints(web)[i].Workload.Name, want)
	}
}

// An address in several slices counts once, and stays while one slice has it.
func TestAddressInTwoSlicesGoesOneByOne(t *testing.T) {
	a, b := slice("a", at("10.0.0.1", "")), slice("b", at("10.0.0.1", ""))
	m := newMesh(t, service("web", "", ""), a, b)
	m.wantSent(webEDS, "10.0.0.1:8080/0")
	m.Apply(service("web", ", labels: {foo: bar}", ""))
	m.wantSent(webEDS, "10.0.0.1:8080/0")
	m.Apply(remove(a))
	m.wantSent(webEDS, "10.0.0.1:8080/0")
	m.Apply(remove(b))
	m.wantSent(webEDS)
}

func TestProtocolsOfPorts(t *testing.T) {
	for _, c := range []struct {
		port string
		want model.Protocol
	}{
		{"port: 8888, name: ''", model.ProtocolUnsupported},
		{"port: 25, name: ''", model.ProtocolTCP},
		{"port: 53, name: ''", model.ProtocolTCP},
		{"port: 3306, name: ''", model.ProtocolTCP},
		{"port: 27017, name: ''", model.ProtocolTCP},
		{"port: 8888, name: http", model.ProtocolHTTP},
		{"port: 8888, name: http-test", model.ProtocolHTTP},
		{"port: 8888, name: HTTP-TEST", model.ProtocolHTTP},
		{"port: 8888, name: httptest", model.ProtocolUnsupported},
		{"port: 25, name: httptest", model.ProtocolTCP},
		{"port: 25, name: http", model.ProtocolHTTP},
		{"port: 8888, name: http, protocol: UDP", model.ProtocolUDP},
		{"port: 8888, name: https-test", model.ProtocolHTTPS},
		{"port: 8888, name: http2", model.ProtocolHTTP2},
		{"port: 8888, name: grpc-test", model.ProtocolGRPC},
		{"port: 8888, name: grpc-web", model.ProtocolGRPCWeb},
		{"port: 8888, name: GRPC-WEB-TEST", model.ProtocolGRPCWeb},
		{"port: 8888, name: grpc-webber", model.ProtocolGRPCWeb},
		{"port: 8888, name: mongo-test", model.ProtocolMongo},
		{"port: 8888, name: redis", model.ProtocolRedis},
		{"port: 8888, name: mysql-test", model.ProtocolMySQL},
		{"port: 8888, name: tls-x", model.ProtocolTLS},
		{"port: 8888, name: tcp, appProtocol: http", model.ProtocolHTTP},
		{"port: 8888, name: http, appProtocol: odd", model.ProtocolUnsupported},
		{"port: 3306, name: http, appProtocol: odd", model.ProtocolTCP},
		{"port: 8888, name: tcp, appProtocol: kubernetes.io/h2c", model.ProtocolHTTP2},
		{"port: 8888, name: tcp, appProtocol: kubernetes.io/ws", model.ProtocolHTTP},
		{"port: 8888, name: tcp, appProtocol: kubernetes.io/wss", model.ProtocolHTTPS},
		{"port: 8888, name: tcp, appProtocol: grpc-web", model.ProtocolGRPCWeb},
		{"port: 8888, name: http, appProtocol: ''", model.ProtocolUnsupported},
	} {
		m := newMesh(t, "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {clusterIP: 10.96.0.1, ports: [{"+c.port+"}]}")
		equal(t, "protocol of "+c.port, m.definition(web).Ports[0].Protocol, c.want)
	}
}

func TestAnnotationsOfServices(t *testing.T) {
	for annotation, want := range map[string][]string{
		"": nil, ".": {"."}, "*": {"*"}, "~": {"~"}, "ns": {"ns"}, "ns1,ns2": {"ns1", "ns2"}, "ns2 ,ns1": {"ns1", "ns2"}, "ns1, ns1": {"ns1"},
	} {
		m := newMesh(t, service("web", ", annotations: {networking.istio.io/exportTo: '"+annotation+"'}", ""))
		if got := m.definition(web).ExportTo; !slices.Equal(got, want) {
			t.Errorf("exportTo %q is read as %v, want %v", annotation, got, want)
		}
	}
	m := newMesh(t, service("web", ", annotations: {alpha.istio.io/kubernetes-serviceaccounts: 'a,b', alpha.istio.io/canonical-serviceaccounts: 'spiffe://x/c,spiffe://x/d'}", ""))
	want := []string{"spiffe://x/c", "spiffe://x/d", "spiffe://cluster.local/ns/shop/sa/a", "spiffe://cluster.local/ns/shop/sa/b"}
	if got := m.definition(web).ServiceAccounts; !slices.Equal(got, want) {
		t.Errorf("the accounts are %v, want %v", got, want)
	}
}

func TestExternalAddressesOfServices(t *testing.T) {
	const ingress = "\nstatus: {loadBalancer: {ingress: [{ip: 203.0.113.2, hostname: both.example.com}, {hostname: lb.example.com}, {}, {ip: 203.0.113.1}]}}"
	for spec, want := range map[string][]string{
		", type: LoadBalancer": {"203.0.113.1", "203.0.113.2", "lb.example.com"}, ", type: ClusterIP": nil,
		", type: ClusterIP, externalIPs: [203.0.113.9]": {"203.0.113.9"}, ", type: LoadBalancer, externalIPs: [203.0.113.9]": {"203.0.113.1", "203.0.113.2", "203.0.113.9", "lb.example.com"},
	} {
		if got := newMesh(t, service("web", "", spec)+ingress).definition(web).ExternalAddresses["Kubernetes"]; !slices.Equal(got, want) {
			t.Errorf("the addresses with %q are %v, want %v", spec, got, want)
		}
	}
}

// The Pod's label comes before its Node; dots stand for slashes in a label without
// any, and the older labels of Nodes count beside the newer ones.
func TestLocalityOfPods(t *testing.T) {
	at := func(labels string) string {
		return "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {" + labels + "}}"
	}
	const region, zone, subzone = "topology.kubernetes.io/region: r1, ", "topology.kubernetes.io/zone: z1, ", "topology.istio.io/subzone: s1, "
	for _, c := range []struct{ name, pod, node, want string }{
		{"nothing", "", "", ""},
		{"node", "", region + zone + subzone, "r1/z1/s1"},
		{"region alone", "", region, "r1//"},
		{"zone alone", "", zone, "/z1/"},
		{"subzone alone", "", subzone, "//s1"},
		{"older labels", "", "failure-domain.beta.kubernetes.io/region: r0, failure-domain.beta.kubernetes.io/zone: z0", "r0/z0/"},
		{"both kinds of labels", "", region + "failure-domain.beta.kubernetes.io/region: r0, failure-domain.beta.kubernetes.io/zone: z0", "r1/z0/"},
		{"pod", ", istio-locality: r.z.s", "", "r/z/s"},
		{"pod before node", ", istio-locality: r.z.s", region + zone, "r/z/s"},
		{"empty label", ", istio-locality: ''", region, "r1//"},
	} {
		m := newMesh(t, service("web", "", ""), at(c.node), pod("p", "10.0.0.1", c.pod), slice("a", of("p", "10.0.0.1")))
		equal(t, "locality by "+c.name, m.endpoint(web).Workload.LocalityLabel, c.want)
	}
}
