package facts

import (
	"fmt"
	"testing"

	"github.com/edsight/edsight/core/model"
)

func sprintf(format string, a ...any) string { return fmt.Sprintf(format, a...) }

func TestFact11EndpointLabels(t *testing.T) {
	m := newMesh(t, service("web", "", ""), node("n1", "r1", "z1"), pod("p", "10.0.0.1", ", version: v1"), slice("a", of("p", "10.0.0.1")),
		istio("DestinationRule", "shop", "web", "{host: web, subsets: [{name: here, labels: {topology.kubernetes.io/zone: z1, topology.istio.io/network: '', kubernetes.io/hostname: n1, topology.istio.io/cluster: Kubernetes}}]}"))
	l := m.endpoint(web).Workload.Labels
	equal(t, "zone", l["topology.kubernetes.io/zone"], "z1")
	equal(t, "region", l["topology.kubernetes.io/region"], "r1")
	if n, ok := l["topology.istio.io/network"]; !ok || n != "" {
		t.Errorf("the label of the network is %q, %v, want an empty one", n, ok)
	}
	m.wantSent("outbound|80|here|"+web, "10.0.0.1:8080/0")
}

func TestFact12WorkloadMetadata(t *testing.T) {
	owned := "apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: shop, generateName: %s, labels: {app: web, pod-template-hash: abc, service.istio.io/canonical-name: web, service.istio.io/canonical-revision: %s}, ownerReferences: [{kind: %s, name: %s, controller: true, apiVersion: v1, uid: x}]}\nspec: {}\nstatus: {phase: Running, podIP: 10.0.0.1, conditions: [{type: Ready, status: 'True'}]}"
	for want, p := range map[string]string{
		"web;shop;web;;Kubernetes":     sprintf(owned, "p", "web-abc-", "latest", "ReplicaSet", "web-abc"),
		"web;shop;web;v2;Kubernetes":   sprintf(owned, "p", "web-abc-", "v2", "ReplicaSet", "web-abc"),
		"night;shop;web;;Kubernetes":   sprintf(owned, "p", "night-28500000-", "latest", "Job", "night-28500000"),
		"p;shop;web;;Kubernetes":       sprintf(owned, "p", "''", "latest", "ReplicaSet", "web-abc"),
		"named;shop;web;;Kubernetes":   pod("p", "10.0.0.1", ", service.istio.io/workload-name: named, service.istio.io/canonical-name: web"),
		"p;shop;;;Kubernetes":          pod("p", "10.0.0.1", ", service.istio.io/canonical-name: ''"),
		";shop;web;v1;Kubernetes":      pod("p", "10.0.0.1", ", service.istio.io/workload-name: '', app.kubernetes.io/version: v1, version: v2"),
		"web-set;shop;web;;Kubernetes": sprintf(owned, "p", "web-set-", "latest", "StatefulSet", "web-set"),
	} {
		m := newMesh(t, service("web", "", ""), p, slice("a", of("p", "10.0.0.1")))
		equal(t, "workload", m.assignment(client, webEDS).Localities[0].Endpoints[0].Workload, want)
	}
}

func TestFact13TLSMode(t *testing.T) {
	for label, want := range map[string][2]string{
		"": {"disabled", ""}, ", security.istio.io/tlsMode: istio": {"istio", "istio"}, ", security.istio.io/tlsMode: odd": {"odd", ""},
	} {
		m := newMesh(t, service("web", "", ""), pod("p", "10.0.0.1", label), slice("a", of("p", "10.0.0.1")))
		equal(t, "TLS mode in the shard", m.endpoint(web).Workload.TLSMode, want[0])
		equal(t, "TLS mode in EDS", m.assignment(client, webEDS).Localities[0].Endpoints[0].TLSMode, want[1])
	}
}

const selecting = "hosts: [e.example.com], addresses: [240.0.0.1], ports: [{number: 80, name: http, protocol: HTTP}], resolution: STATIC, location: MESH_INTERNAL, workloadSelector: {labels: {app: vm}}"

func workloadEntry(metadata, spec, status string) string {
	return sprintf("apiVersion: networking.istio.io/v1\nkind: WorkloadEntry\nmetadata: {name: vm, namespace: shop%s}\nspec: {address: 192.0.2.1, labels: {app: vm}%s}%s", metadata, spec, status)
}

func TestFact14HealthOfWorkloadEntries(t *testing.T) {
	const e, checked = "e.example.com", ", annotations: {proxy.istio.io/health-checks-enabled: 'true'}"
	m := newMesh(t, entry("shop", "e", "", selecting), workloadEntry("", "", "\nstatus: {conditions: [{type: Healthy, status: 'False'}]}"))
	equal(t, "health without the annotation", m.endpoint(e).Health, model.HealthUnset)
	equal(t, "health in EDS", m.assignment(client, "outbound|80||"+e).Message().GetEndpoints()[0].GetLbEndpoints()[0].GetHealthStatus().Number(), 0)
	m = newMesh(t, entry("shop", "e", "", selecting), workloadEntry(checked, "", ""))
	equal(t, "reason without a condition", m.reason(e, "192.0.2.1"), model.ReasonWorkloadNotReady)
	m = newMesh(t, entry("shop", "e", "", selecting), workloadEntry(checked, "", "\nstatus: {conditions: [{type: Healthy, status: 'False'}]}"))
	equal(t, "reason when it is false", m.reason(e, "192.0.2.1"), model.ReasonWorkloadNotReady)
	m = newMesh(t, entry("shop", "e", "", selecting), workloadEntry(checked, "", "\nstatus: {conditions: [{type: Healthy, status: 'True'}]}"))
	equal(t, "endpoints when it is true", len(m.endpoints(e)), 1)
}

func TestFact15TLSModeOfWorkloadEntries(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"", "disabled"}, {", serviceAccount: vm", "istio"},
	} {
		m := newMesh(t, entry("shop", "e", "", selecting), workloadEntry("", c.spec, ""))
		equal(t, "TLS mode with "+c.spec, m.endpoint("e.example.com").Workload.TLSMode, c.want)
	}
	m := newMesh(t, entry("shop", "e", "", selecting), workloadEntry(", labels: {security.istio.io/tlsMode: istio}", "", ""))
	equal(t, "TLS mode by the label", m.endpoint("e.example.com").Workload.TLSMode, "istio")
}

func TestFact24HostsTimesAddresses(t *testing.T) {
	m := newMesh(t, entry("shop", "e", "", "hosts: [a.example.com, b.example.com], addresses: [240.0.0.1, 240.0.0.2], ports: [{number: 80, name: http, protocol: HTTP}], resolution: STATIC, endpoints: [{address: 192.0.2.1}]"))
	n := 0
	for s := range m.Snapshot().Services() {
		n += len(s.Definitions)
		for _, d := range s.Definitions {
			equal(t, "VIPs", len(d.VIPs), 0)
		}
	}
	equal(t, "services", n, 4)
	equal(t, "endpoints of one host", len(m.endpoints("a.example.com")), 2)
	m.wantSent("outbound|80||a.example.com", "192.0.2.1:80/0", "192.0.2.1:80/0")
}

func TestFact25LegacyPort(t *testing.T) {
	m := newMesh(t, entry("shop", "e", "", "hosts: [a.example.com], addresses: [240.0.0.1], ports: [{number: 80, name: http, protocol: HTTP, targetPort: 8080}], resolution: DNS, endpoints: [{address: b.example.com}]"))
	equal(t, "service port of the endpoint", m.endpoint("a.example.com").LegacyPort, 80)
	c := m.clusters(client)["outbound|80||a.example.com"]
	if c == nil || c.Inline == nil || c.Inline.Sent() != 1 {
		t.Fatalf("the DNS cluster is %+v, want one inline endpoint", c)
	}
	equal(t, "port of the inline endpoint", c.Inline.Localities[0].Endpoints[0].Port, 8080)
}

func TestTargetRefWithoutNamespaceMeansNoPod(t *testing.T) {
	m := newMesh(t, service("web", "", ""), pod("p", "10.0.0.1", ""), slice("a", "{addresses: [10.0.0.1], targetRef: {kind: Pod, name: p}}"))
	m.wantSent(webEDS)
	equal(t, "reason", m.reason(web, "10.0.0.1"), model.ReasonPodNotSeen)
}

func TestHealthChecksAreSwitchedOnAsBooleansAre(t *testing.T) {
	const e, failing = "e.example.com", "\nstatus: {conditions: [{type: Healthy, status: 'False'}, {type: Healthy, status: 'True'}]}"
	for value, want := range map[string]model.Reason{
		"True": model.ReasonWorkloadNotReady, "1": model.ReasonWorkloadNotReady, "t": model.ReasonWorkloadNotReady,
		"yes": model.ReasonNone, "on": model.ReasonNone, "0": model.ReasonNone, "": model.ReasonNone,
	} {
		m := newMesh(t, entry("shop", "e", "", selecting), workloadEntry(", annotations: {proxy.istio.io/health-checks-enabled: '"+value+"'}", "", failing))
		equal(t, "reason with "+value, m.reason(e, "192.0.2.1"), want)
	}
	m := newMesh(t, entry("shop", "e", "", selecting), workloadEntry(", annotations: {proxy.istio.io/health-checks-enabled: 'true'}", "", "\nstatus: {conditions: [{type: Healthy, status: 'true'}]}"))
	equal(t, "reason when it is not quite True", m.reason(e, "192.0.2.1"), model.ReasonWorkloadNotReady)
}
