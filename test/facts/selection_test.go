package facts

import (
	"testing"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

const vmEDS = "outbound|80||e.example.com"

// vmEntry is a ServiceEntry in shop that selects app=vm, with one port.
func vmEntry(port string) string {
	return entry("shop", "e", "", "hosts: [e.example.com], addresses: [240.0.0.1], ports: [{name: http, protocol: HTTP, "+port+"}], resolution: STATIC, location: MESH_INTERNAL, workloadSelector: {labels: {app: vm}}")
}

// vmAt is a WorkloadEntry in shop with a spec of its own.
func vmAt(name, spec string) string { return istio("WorkloadEntry", "shop", name, "{"+spec+"}") }

// vmService is a Service in shop that selects app=vm.
func vmService(ports string) string {
	return "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {clusterIP: 10.96.0.1, ports: [" + ports + "], selector: {app: vm}}"
}

// The port of a workload: that of its own with the port's name, else the target
// port, else the number, whatever comes first.
func TestPortsOfSelectedWorkloadEntries(t *testing.T) {
	for _, c := range []struct{ name, entry, vm, want string }{
		{"neither", "number: 80", "", "192.0.2.1:80/0"},
		{"its own", "number: 80", ", ports: {http: 8080}", "192.0.2.1:8080/0"},
		{"its own beside the target port", "number: 80, targetPort: 8081", ", ports: {http: 8080}", "192.0.2.1:8080/0"},
		{"target port", "number: 80, targetPort: 8081", "", "192.0.2.1:8081/0"},
		{"target port beside another name", "number: 80, targetPort: 8081", ", ports: {other: 8080}", "192.0.2.1:8081/0"},
		{"another name alone", "number: 80", ", ports: {other: 8080}", "192.0.2.1:80/0"},
		{"its own of 0", "number: 80, targetPort: 8081", ", ports: {http: 0}", "192.0.2.1:8081/0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			vm := vmAt("vm", "address: 192.0.2.1, labels: {app: vm}"+c.vm)
			newMesh(t, vmEntry(c.entry), vm).wantSent(vmEDS, c.want)
			m := newMesh(t, vm)
			m.Apply(vmEntry(c.entry))
			m.wantSent(vmEDS, c.want)
		})
	}
}

func TestPortOfAWorkloadEntryChanges(t *testing.T) {
	m := newMesh(t, vmEntry("number: 80"), vmAt("vm", "address: 192.0.2.1, labels: {app: vm}"))
	push := m.Apply(vmAt("vm", "address: 192.0.2.1, labels: {app: vm}, ports: {http: 1234}"))
	equal(t, "push", push.Push.Scope.Type, state.PushIncremental)
	m.wantSent(vmEDS, "192.0.2.1:1234/0")
	m.Apply(vmAt("vm", "address: 192.0.2.9, labels: {app: vm}, ports: {http: 1234}"))
	m.wantSent(vmEDS, "192.0.2.9:1234/0")
	m.Apply(remove(vmAt("vm", "")))
	m.wantSent(vmEDS)
}

// Several WorkloadEntries may share an address; each ServiceEntry has them all.
func TestWorkloadEntriesOfOneAddress(t *testing.T) {
	one, two := vmAt("we1", "address: 192.0.2.1, labels: {app: vm}, ports: {http: 1234}"), vmAt("we2", "address: 192.0.2.1, labels: {app: vm}, ports: {http: 5678}")
	other := entry("shop", "f", "", "hosts: [f.example.com], addresses: [240.0.0.2], ports: [{name: http, protocol: HTTP, number: 80}], resolution: STATIC, workloadSelector: {labels: {app: vm}}")
	m := newMesh(t, vmEntry("number: 80"), other, one, two)
	m.wantSent(vmEDS, "192.0.2.1:1234/0", "192.0.2.1:5678/0")
	m.wantSent("outbound|80||f.example.com", "192.0.2.1:1234/0", "192.0.2.1:5678/0")
	m.Apply(remove(two))
	m.wantSent(vmEDS, "192.0.2.1:1234/0")
	m.wantSent("outbound|80||f.example.com", "192.0.2.1:1234/0")
	m.Apply(two)
	m.wantSent(vmEDS, "192.0.2.1:1234/0", "192.0.2.1:5678/0")
}

func TestLabelsDecideWhichEntriesSelect(t *testing.T) {
	selects := func(name, label string) string {
		return entry("shop", name, "", sprintf("hosts: [%s.example.com], addresses: [240.0.0.1], ports: [{name: http, protocol: HTTP, number: 80}], resolution: STATIC, workloadSelector: {labels: {%s}}", name, label))
	}
	m := newMesh(t, selects("foo", "foo: 'true'"), selects("bar", "bar: 'true'"), vmAt("vm", "address: 192.0.2.1, labels: {foo: 'true', bar: 'true'}"))
	m.wantSent("outbound|80||foo.example.com", "192.0.2.1:80/0")
	m.wantSent("outbound|80||bar.example.com", "192.0.2.1:80/0")
	m.Apply(vmAt("vm", "address: 192.0.2.1, labels: {bar: 'true'}"))
	m.wantSent("outbound|80||foo.example.com")
	m.wantSent("outbound|80||bar.example.com", "192.0.2.1:80/0")
	m.Apply(selects("foo", "bar: 'true'"))
	m.wantSent("outbound|80||foo.example.com", "192.0.2.1:80/0")
	m.Apply(istio("WorkloadEntry", "ns", "far", "{address: 192.0.2.7, labels: {bar: 'true'}}"))
	m.wantSent("outbound|80||bar.example.com", "192.0.2.1:80/0")
}

func TestSeveralPortsOfAWorkloadEntry(t *testing.T) {
	e := entry("shop", "e", "", "hosts: [e.example.com], addresses: [240.0.0.1], ports: [{name: http, protocol: HTTP, number: 80}, {name: tcp, protocol: TCP, number: 3000}], resolution: STATIC, workloadSelector: {labels: {app: vm}}")
	m := newMesh(t, e, vmAt("vm", "address: 192.0.2.1, labels: {app: vm}, ports: {http: 8080, tcp: 3000}"))
	m.wantSent(vmEDS, "192.0.2.1:8080/0")
	m.wantSent("outbound|3000||e.example.com", "192.0.2.1:3000/0")
	m.Apply(vmAt("vm", "address: 192.0.2.1, labels: {app: vm}, ports: {http: 8080, tcp: 4000}"))
	m.wantSent(vmEDS, "192.0.2.1:8080/0")
	m.wantSent("outbound|3000||e.example.com", "192.0.2.1:4000/0")
}

// For a Service the WorkloadEntry's own port counts before the target port's
// number, and a target port by name must be there.
func TestPortsOfAServiceOnWorkloadEntries(t *testing.T) {
	for _, c := range []struct{ name, port, vm, want string }{
		{"no target port", "name: http, port: 80", "", "192.0.2.1:80/0"},
		{"no target port, its own", "name: my-port, port: 80", ", ports: {my-port: 8080}", "192.0.2.1:8080/0"},
		{"number", "name: http, port: 80, targetPort: 8080", "", "192.0.2.1:8080/0"},
		{"number, its own", "name: http, port: 80, targetPort: 8080", ", ports: {http: 9090}", "192.0.2.1:9090/0"},
		{"number, another name", "name: http, port: 80, targetPort: 8080", ", ports: {other: 9090}", "192.0.2.1:8080/0"},
		{"name", "name: http, port: 80, targetPort: my-port", ", ports: {my-port: 8080}", "192.0.2.1:8080/0"},
		{"name, only its own", "name: http, port: 80, targetPort: my-port", ", ports: {http: 8080}", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			vm := vmAt("vm", "address: 192.0.2.1, labels: {app: vm}"+c.vm)
			want := []string{c.want}
			if c.want == "" {
				want = nil
			}
			newMesh(t, vmService("{"+c.port+"}"), vm).wantSent(webEDS, want...)
			m := newMesh(t, vm)
			m.Apply(vmService("{" + c.port + "}"))
			m.wantSent(webEDS, want...)
		})
	}
}

func TestServiceOverWorkloadEntriesChanges(t *testing.T) {
	m := newMesh(t, vmService("{name: http, port: 80, targetPort: 8080}, {name: http2, port: 90, targetPort: 9090}"), vmAt("vm", "address: 192.0.2.1, labels: {app: vm}"))
	m.wantSent(webEDS, "192.0.2.1:8080/0")
	m.wantSent("outbound|90||"+web, "192.0.2.1:9090/0")
	m.Apply(vmService("{name: http, port: 8080, targetPort: 9091}"))
	equal(t, "cluster of the port before", m.has(client, webEDS), false)
	m.wantSent("outbound|8080||"+web, "192.0.2.1:9091/0")
	m.Apply(remove(vmService("")))
	equal(t, "cluster of a Service that is gone", m.has(client, "outbound|8080||"+web), false)
}

// A Service and a ServiceEntry of one host both select the Pod and the
// WorkloadEntry: all four count.
func TestAllDirectionsOfSelection(t *testing.T) {
	e := entry("shop", "e", "", "hosts: ["+web+"], ports: [{name: http, protocol: HTTP, number: 80}], resolution: STATIC, workloadSelector: {labels: {app: web}}")
	vm := vmAt("vm", "address: 192.0.2.1, labels: {app: web}")
	endpoints := slice("a", of("p", "10.0.0.1"))
	m := newMesh(t, service("web", "", ""), e, pod("p", "10.0.0.1", ""), endpoints, vm)
	m.wantSent(webEDS, "10.0.0.1:80/0", "10.0.0.1:8080/0", "192.0.2.1:80/0", "192.0.2.1:8080/0")
	m.Apply(docs(remove(pod("p", "10.0.0.1", "")), remove(endpoints), remove(vm)))
	m.wantSent(webEDS)
}

// podIn is the Pod vm in shop with a status.
func podIn(status string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: vm, namespace: shop, labels: {app: vm}}\nspec: {containers: [{name: app}]}\nstatus: {" + status + "}"
}

// A ServiceEntry takes a Pod while it is ready, has an address and stays.
func TestServiceEntryFollowsThePod(t *testing.T) {
	const ready, not = ", conditions: [{type: Ready, status: 'True'}]", ", conditions: [{type: Ready, status: 'False'}]"
	up := podIn("phase: Running, podIP: 10.0.0.1" + ready)
	for _, c := range []struct {
		name, pod string
		want      model.Reason
	}{
		{"not ready", podIn("phase: Running, podIP: 10.0.0.1" + not), model.ReasonWorkloadNotReady},
		{"no condition", podIn("phase: Running, podIP: 10.0.0.1"), model.ReasonWorkloadNotReady},
		{"failed without address", podIn("phase: Failed" + ready), model.ReasonPodFinished},
		{"failed with an address", podIn("phase: Failed, podIP: 10.0.0.1" + ready), model.ReasonPodFinished},
		{"succeeded", podIn("phase: Succeeded, podIP: 10.0.0.1" + ready), model.ReasonPodFinished},
		{"address gone", podIn("phase: Running" + ready), model.ReasonPodWithoutIP},
		{"being deleted", "apiVersion: v1\nkind: Pod\nmetadata: {name: vm, namespace: shop, labels: {app: vm}, deletionTimestamp: '2024-03-01T00:00:00Z'}\nspec: {containers: [{name: app}]}\nstatus: {phase: Running, podIP: 10.0.0.1" + ready + "}", model.ReasonTerminating},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMesh(t, vmEntry("number: 80, targetPort: 8080"), up)
			m.wantSent(vmEDS, "10.0.0.1:8080/0")
			m.Apply(c.pod)
			m.wantSent(vmEDS)
			equal(t, "reason", m.service("e.example.com").Shards[0].Candidates[0].Reason, c.want)
			m.Apply(up)
			m.wantSent(vmEDS, "10.0.0.1:8080/0")
		})
	}
	m := newMesh(t, vmEntry("number: 80"), up)
	m.Apply(podIn("phase: Running, podIP: 10.0.0.2" + ready))
	m.wantSent(vmEDS, "10.0.0.2:80/0")
	m.Apply(vmEntry("number: 9090, targetPort: 9091"))
	equal(t, "cluster of the port before", m.has(client, vmEDS), false)
	m.wantSent("outbound|9090||e.example.com", "10.0.0.2:9091/0")
	m.Apply(remove(up))
	m.wantSent("outbound|9090||e.example.com")
}

// A host that a WorkloadEntry names is for ServiceEntries by DNS alone.
func TestWorkloadEntryOfAHost(t *testing.T) {
	dns := entry("shop", "d", "", "hosts: [d.example.com], addresses: [240.0.0.2], ports: [{name: http, protocol: HTTP, number: 80}], resolution: DNS, workloadSelector: {labels: {app: vm}}")
	m := newMesh(t, vmEntry("number: 80"), dns, vmService("{name: http, port: 80}"), vmAt("vm", "address: vm.example.org, labels: {app: vm}"))
	m.wantSent(vmEDS)
	m.wantSent(webEDS)
	c := m.clusters(client)["outbound|80||d.example.com"]
	if c == nil || c.Inline == nil || c.Inline.Sent() != 1 {
		t.Fatalf("the DNS cluster is %+v, want one inline endpoint", c)
	}
	equal(t, "address", c.Inline.Localities[0].Endpoints[0].Address, "vm.example.org")
}

// The name of a WorkloadEntry's workload is that of a label of the object; one in
// its spec does not count.
func TestWorkloadNameOfWorkloadEntries(t *testing.T) {
	const spec = "spec: {address: 192.0.2.1, labels: {app: vm, service.istio.io/workload-name: inner}}"
	object := func(metadata string) string {
		return "apiVersion: networking.istio.io/v1\nkind: WorkloadEntry\nmetadata: {name: vm, namespace: shop" + metadata + "}\n" + spec
	}
	for metadata, want := range map[string]string{
		"": "vm", ", labels: {service.istio.io/workload-name: outer}": "outer",
		", labels: {service.istio.io/workload-name: outer}, annotations: {istio.io/autoRegistrationGroup: group}": "group",
		", labels: {service.istio.io/workload-name: ''}":                                                          "",
	} {
		m := newMesh(t, vmService("{name: http, port: 80}"), object(metadata))
		equal(t, "workload with "+metadata, m.endpoint(web).Workload.Name, want)
	}
}
