package facts

import (
	"testing"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

func TestFact01ReadyAloneMakesHealthy(t *testing.T) {
	for _, c := range []string{"", "ready: true", "ready: true, serving: false, terminating: true"} {
		m := newMesh(t, service("web", "", ""), slice("a", at("10.0.0.1", c)))
		equal(t, "health with {"+c+"}", m.endpoint(web).Health, model.Healthy)
	}
}

func TestFact02NotReady(t *testing.T) {
	for _, c := range []struct {
		conditions, labels string
		want               model.HealthStatus
	}{
		{"ready: false", "", model.Terminating}, // an absent terminating counts as true
		{"ready: false, terminating: false", "", model.UnHealthy},
		{"ready: false, serving: true, terminating: true", ", labels: {istio.io/persistent-session: c}", model.Draining},
		{"ready: false, serving: true, terminating: true", ", labels: {istio.io/persistent-session-header: h}", model.Draining},
		{"ready: false, serving: false, terminating: true", ", labels: {istio.io/persistent-session: c}", model.Terminating},
	} {
		m := newMesh(t, service("web", c.labels, ""), slice("a", at("10.0.0.1", c.conditions)))
		equal(t, "health with {"+c.conditions+"}"+c.labels, m.endpoint(web).Health, c.want)
	}
	m := newMesh(t, slice("a", at("10.0.0.1", "ready: false, serving: true, terminating: true")))
	equal(t, "health without a Service", m.endpoint(web).Health, model.UnHealthy)
}

func TestFact03HealthInEDS(t *testing.T) {
	draining := slice("a", at("10.0.0.1", "ready: false, serving: true, terminating: true"))
	m := newMesh(t, service("web", ", labels: {istio.io/persistent-session: c}", ""), draining)
	m.wantSent(webEDS, "10.0.0.1:8080/0")
	m = newMesh(t, service("web", ", labels: {istio.io/persistent-session-header: h}", ""), draining)
	m.wantSent(webEDS)
	m = newMesh(t, service("web", "", ""), slice("a", at("10.0.0.1", "ready: false, terminating: true"), at("10.0.0.2", "ready: false, terminating: false")))
	m.wantSent(webEDS)
	m = newMesh(t, service("web", "", ", trafficDistribution: PreferClose"), slice("a", at("10.0.0.1", "ready: false, terminating: true"), at("10.0.0.2", "ready: false, terminating: false")))
	m.wantSent(webEDS, "10.0.0.2:8080/0")
	m = newMesh(t, service("web", ", labels: {istio.io/persistent-session: c}", ""), pod("p", "10.0.0.1", ", istio.io/draining: 'true'"), slice("a", of("p", "10.0.0.1")))
	equal(t, "health in the shard of a Pod labelled as draining", m.endpoint(web).Health, model.Healthy)
	equal(t, "health in EDS", m.assignment(client, webEDS).Localities[0].Endpoints[0].Health, model.Draining)
}

func TestFact04PublishNotReadyChangesNothing(t *testing.T) {
	m := newMesh(t, service("web", "", ", publishNotReadyAddresses: true"), slice("a", at("10.0.0.1", "ready: false, terminating: false")))
	equal(t, "health", m.endpoint(web).Health, model.UnHealthy)
}

func TestFact05UnhealthyNewcomerCausesNoPush(t *testing.T) {
	m := newMesh(t, service("web", "", ""), slice("a", at("10.0.0.1", "")))
	tr := m.Apply(slice("a", at("10.0.0.1", ""), at("10.0.0.2", "ready: false, terminating: false")))
	equal(t, "push of an unhealthy newcomer", tr.Push.Scope.Type, state.PushNone)
	equal(t, "endpoints in the shard", len(m.endpoints(web)), 2)
	tr = m.Apply(slice("a", at("10.0.0.1", "ready: false, terminating: false"), at("10.0.0.2", "ready: false, terminating: false")))
	equal(t, "push of ready to not ready", tr.Push.Scope.Type, state.PushIncremental)
}

func TestFact06OnlySlicesAndTheNodesLocality(t *testing.T) {
	m := newMesh(t, service("web", "", ""), "apiVersion: v1\nkind: Endpoints\nmetadata: {name: web, namespace: shop}\nsubsets: [{addresses: [{ip: 10.0.0.9}], ports: [{name: http, port: 8080}]}]")
	equal(t, "endpoints by an Endpoints object", len(m.endpoints(web)), 0)
	m.Apply("apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: f, namespace: shop, labels: {kubernetes.io/service-name: web}}\naddressType: FQDN\nports: [{name: http, port: 80}]\nendpoints: [{addresses: [a.example.com]}]")
	equal(t, "reason of a name", m.reason(web, "a.example.com"), model.ReasonFQDNSlice)
	m = newMesh(t, service("web", "", ""), node("n1", "r1", "z1"), pod("p", "10.0.0.1", ""), pod("q", "10.0.0.2", ", istio-locality: r9.z9"),
		slice("a", "{addresses: [10.0.0.1], zone: zx, nodeName: other, targetRef: {kind: Pod, namespace: shop, name: p}}", of("q", "10.0.0.2")))
	equal(t, "locality by the Pod's Node", m.endpoints(web)[0].Workload.LocalityLabel, "r1/z1/")
	equal(t, "locality by the Pod's label", m.endpoints(web)[1].Workload.LocalityLabel, "r9/z9")
}

func TestFact07Targets(t *testing.T) {
	m := newMesh(t, service("web", "", ""), slice("a", of("late", "10.0.0.1")))
	equal(t, "reason of an absent Pod", m.reason(web, "10.0.0.1"), model.ReasonPodNotSeen)
	m.Apply(pod("late", "10.0.0.1", ""))
	equal(t, "reason when the Pod is there", m.reason(web, "10.0.0.1"), model.ReasonNone)
	m = newMesh(t, service("web", "", ""), pod("p", "10.0.0.1", ""), slice("a", at("10.0.0.1", ""), at("10.0.0.2", ""), "{addresses: [10.0.0.3], targetRef: {kind: Node, name: n1}}"))
	equal(t, "workload found by IP", m.endpoints(web)[0].Workload.Name, "p")
	equal(t, "workload of nobody's address", m.endpoints(web)[1].Workload.Name, "")
	equal(t, "endpoints", len(m.endpoints(web)), 3)
	m = newMesh(t, service("web", "", ""), pod("p", "10.0.0.1", ""), slice("a", of("p", "10.0.0.77")))
	equal(t, "address that is not the Pod's", m.endpoint(web).Workload.Name, "p")
}

func TestFact08WhichPodsAreFoundByIP(t *testing.T) {
	unready := "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop, labels: {app: web}%s}\nspec: {}\nstatus: {phase: %s, podIP: 10.0.0.1, conditions: [{type: Ready, status: '%s'}]}"
	for name, p := range map[string]string{
		"not ready":   sprintf(unready, "", "Running", "False"),
		"finished":    sprintf(unready, "", "Failed", "True"),
		"terminating": sprintf(unready, ", deletionTimestamp: '2024-03-01T00:00:00Z'", "Running", "True"),
	} {
		m := newMesh(t, service("web", "", ""), p, slice("a", at("10.0.0.1", "")),
			entry("shop", "e", "", "hosts: [e.example.com], ports: [{number: 80, name: http, protocol: HTTP}], resolution: STATIC, workloadSelector: {labels: {app: web}}"))
		equal(t, name+": workload of the slice", m.endpoint(web).Workload.Name, "")
		equal(t, name+": selected by the ServiceEntry", len(m.endpoints("e.example.com")), 0)
	}
}

func TestFact09Ports(t *testing.T) {
	m := newMesh(t, service("web", "", ""), sliceWith("a", "ports: [{name: http}]", at("10.0.0.1", "")))
	e := m.assignment(client, webEDS).Message().GetEndpoints()[0].GetLbEndpoints()[0].GetEndpoint()
	equal(t, "address without a port number", e.GetAddress().GetPipe().GetPath(), "10.0.0.1")
	m = newMesh(t, service("web", "", ""), sliceWith("a", "ports: []", at("10.0.0.1", "")))
	equal(t, "reason without ports", m.reason(web, "10.0.0.1"), model.ReasonSliceWithoutPorts)
	m = newMesh(t, service("web", "", ""), sliceWith("a", "ports: [{port: 8080, protocol: UDP}]", at("10.0.0.1", "")))
	equal(t, "port name", m.endpoint(web).PortName, "")
}

func TestFact10OneAddressOnce(t *testing.T) {
	m := newMesh(t, service("web", "", ""), slice("a", at("10.0.0.1", "")), slice("b", at("10.0.0.1", ""), at("10.0.0.2", "")))
	equal(t, "endpoints", len(m.endpoints(web)), 2)
	equal(t, "candidates", m.service(web).CandidateCount(), 3)
	m.wantSent(webEDS, "10.0.0.1:8080/0", "10.0.0.2:8080/0")
}
