package facts

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// mesh is a core with the namespaces of the tests and one client.
type mesh struct {
	*coretest.Core
	t *testing.T
}

// web is the host and client the proxy that most tests are about.
const (
	web    = "web.shop.svc.cluster.local"
	webEDS = "outbound|80||" + web
	client = "client.ns"
)

func newMesh(t *testing.T, manifests ...string) mesh {
	t.Helper()
	m := mesh{coretest.New(t), t}
	m.Apply(docs("apiVersion: v1\nkind: Namespace\nmetadata: {name: istio-system}",
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}", proxyPod("ns", "client", "10.9.0.1", "")))
	if len(manifests) > 0 {
		m.Apply(docs(manifests...))
	}
	return m
}

func docs(manifests ...string) string { return strings.Join(manifests, "\n---\n") }

// service is a Service in shop with selector app=<name>; extra goes into its spec.
func service(name, metadata, extra string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: %s, namespace: shop%s}\nspec: {clusterIP: 10.96.0.1, ports: [{name: http, port: 80, targetPort: 8080}], selector: {app: %s}%s}", name, metadata, name, extra)
}

// slice is a slice in shop of the service web, with one endpoint a line.
func slice(name string, endpoints ...string) string {
	return sliceWith(name, "ports: [{name: http, port: 8080}]", endpoints...)
}

func sliceWith(name, more string, endpoints ...string) string {
	return fmt.Sprintf("apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: %s, namespace: shop, labels: {kubernetes.io/service-name: web}}\naddressType: IPv4\n%s\nendpoints: [%s]", name, more, strings.Join(endpoints, ", "))
}

// at is an endpoint of a slice, with conditions, without a target.
func at(address, conditions string) string {
	return fmt.Sprintf("{addresses: [%s], conditions: {%s}}", address, conditions)
}

// of is an endpoint of a slice that refers to a Pod in shop.
func of(pod, address string) string {
	return fmt.Sprintf("{addresses: [%s], targetRef: {kind: Pod, namespace: shop, name: %s}}", address, pod)
}

// pod is a running, ready Pod in shop, with app=web, without a proxy.
func pod(name, ip, labels string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: shop, labels: {app: web%s}}\nspec: {nodeName: n1, serviceAccountName: web, containers: [{name: app}]}\nstatus: {phase: Running, podIP: %s, podIPs: [{ip: %s}], conditions: [{type: Ready, status: 'True'}]}", name, labels, ip, ip)
}

// proxyPod is a Pod with a proxy.
func proxyPod(namespace, name, ip, labels string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: %s, labels: {app: %s%s}}\nspec: {nodeName: n1, serviceAccountName: default, containers: [{name: istio-proxy}]}\nstatus: {phase: Running, podIP: %s, podIPs: [{ip: %s}], conditions: [{type: Ready, status: 'True'}]}", name, namespace, name, labels, ip, ip)
}

// entry is a ServiceEntry in a namespace.
func entry(namespace, name, metadata, spec string) string {
	return fmt.Sprintf("apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {name: %s, namespace: %s%s}\nspec: {%s}", name, namespace, metadata, spec)
}

func istio(kind, namespace, name, spec string) string {
	api := "networking.istio.io/v1"
	if kind == "PeerAuthentication" || kind == "AuthorizationPolicy" {
		api = "security.istio.io/v1"
	}
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s, namespace: %s}\nspec: %s", api, kind, name, namespace, spec)
}

// meshConfig is the ConfigMap of the mesh.
func meshConfig(mesh, networks string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: istio, namespace: istio-system}\ndata: {mesh: '%s', meshNetworks: '%s'}", mesh, networks)
}

func node(name, region, zone string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {topology.kubernetes.io/region: %s, topology.kubernetes.io/zone: %s}}", name, region, zone)
}

func remove(manifest string) string { return "$op: delete\n" + manifest }

// state of a host in shop, nil if there is none.
func (m mesh) service(host string) *state.ServiceState {
	return m.Snapshot().Service(model.ServiceKey{Hostname: model.Hostname(host), Namespace: "shop"})
}

// endpoints of the shards of a host in shop, in order.
func (m mesh) endpoints(host string) []*model.Endpoint {
	var out []*model.Endpoint
	for _, c := range m.service(host).Candidates() {
		if c.Endpoint != nil {
			out = append(out, c.Endpoint)
		}
	}
	return out
}

// endpoint is the only one of a host in shop.
func (m mesh) endpoint(host string) *model.Endpoint {
	m.t.Helper()
	all := m.endpoints(host)
	if len(all) != 1 {
		m.t.Fatalf("%s has %d endpoints, want one", host, len(all))
	}
	return all[0]
}

// clusters of a proxy by name.
func (m mesh) clusters(proxy string) map[string]*cds.Cluster {
	m.t.Helper()
	p := m.Snapshot().Proxy(proxy)
	if p == nil {
		m.t.Fatalf("there is no proxy %s", proxy)
	}
	out := map[string]*cds.Cluster{}
	for _, c := range cds.Build(m.Snapshot(), p) {
		out[c.Name] = &c
	}
	return out
}

// assignment of a proxy's EDS cluster.
func (m mesh) assignment(proxy, cluster string) *eds.Assignment {
	m.t.Helper()
	c := m.clusters(proxy)[cluster]
	if c == nil || c.Assignment() == nil {
		m.t.Fatalf("%s has no EDS cluster %s", proxy, cluster)
	}
	return c.Assignment()
}

// sent lists what a proxy's EDS cluster has as "address:port/priority", sorted.
func (m mesh) sent(proxy, cluster string) []string {
	m.t.Helper()
	out := []string{}
	for _, l := range m.assignment(proxy, cluster).Localities {
		for _, e := range l.Endpoints {
			out = append(out, fmt.Sprintf("%s:%d/%d", e.Address, e.Port, l.Priority))
		}
	}
	slices.Sort(out)
	return out
}

func (m mesh) wantSent(cluster string, want ...string) {
	m.t.Helper()
	if got := m.sent(client, cluster); !slices.Equal(got, want) {
		m.t.Errorf("%s is sent %v in %s, want %v", client, got, cluster, want)
	}
}

// reason of the candidate of a host in shop at an address.
func (m mesh) reason(host, address string) model.Reason {
	m.t.Helper()
	for _, c := range m.service(host).Candidates() {
		if c.Address == address {
			return c.Reason
		}
	}
	m.t.Fatalf("%s has no candidate %s", host, address)
	return model.ReasonNone
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
