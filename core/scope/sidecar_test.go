package scope_test

import (
	"testing"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
)

// The forms of egress hosts (fact 28).
func TestEgressHosts(t *testing.T) {
	objects := []any{
		kube("own", "client"), kube("a", "ns1"), kube("b", "ns1"), kube("a", "ns2"), entry("x.example.com", "ns2", 1), entry("*.wild.example.com", "ns2", 2),
	}
	tests := []struct {
		hosts []string
		want  string
	}{
		{[]string{"*/*"}, "ns2/*.wild.example.com:80 ns1/a.ns1:80 ns2/a.ns2:80 ns1/b.ns1:80 client/own.client:80 ns2/x.example.com:80"},
		{nil, "ns2/*.wild.example.com:80 ns1/a.ns1:80 ns2/a.ns2:80 ns1/b.ns1:80 client/own.client:80 ns2/x.example.com:80"},
		{[]string{"./*"}, "client/own.client:80"},
		{[]string{"~/*"}, ""},
		{[]string{"ns1/*"}, "ns1/a.ns1:80 ns1/b.ns1:80"},
		{[]string{"ns1/a.ns1.svc.cluster.local"}, "ns1/a.ns1:80"},
		{[]string{"ns2/a.ns1.svc.cluster.local"}, ""},
		{[]string{"*/a.ns2.svc.cluster.local"}, "ns2/a.ns2:80"},
		{[]string{"*/*.ns1.svc.cluster.local"}, "ns1/a.ns1:80 ns1/b.ns1:80"},
		{[]string{"ns1/*.svc.cluster.local"}, "ns1/a.ns1:80 ns1/b.ns1:80"},
		{[]string{"*/*.example.com"}, "ns2/*.wild.example.com:80 ns2/x.example.com:80"},
		{[]string{"ns2/*.wild.example.com"}, "ns2/*.wild.example.com:80"},
		{[]string{"ns2/y.wild.example.com"}, ""},
		{[]string{"ns1/a", "./own"}, ""},
		{[]string{"a.ns1.svc.cluster.local", "x/y/z"}, ""},
		{[]string{"ns1/b.ns1.svc.cluster.local", "*/a.ns1.svc.cluster.local"}, "ns1/a.ns1:80 ns1/b.ns1:80"},
	}
	for _, tt := range tests {
		sidecar := egress("sc", "client", 0, tt.hosts...)
		if tt.hosts == nil {
			sidecar.Spec.Egress = nil // no egress means everything
		}
		s := scope.For(snapshot(t, append(objects, sidecar)...), client("client"))
		if got := imports(s); got != tt.want {
			t.Errorf("hosts %v import\n  %s\nwant\n  %s", tt.hosts, got, tt.want)
		}
		if len(s.Imports)+len(s.Excluded) != len(objects) {
			t.Errorf("hosts %v: %d in use and %d not, of %d", tt.hosts, len(s.Imports), len(s.Excluded), len(objects))
		}
	}
}

// Which Sidecar applies: with a matching selector, then without, of the own
// namespace; then the root namespace's without selector; the oldest of equals
// (fact 28).
func TestWhichSidecar(t *testing.T) {
	selecting := func(s *networkingv1.Sidecar, app string) *networkingv1.Sidecar {
		s.Spec.WorkloadSelector = &networking.WorkloadSelector{Labels: map[string]string{"app": app}}
		return s
	}
	general := func(name, namespace string, second int) *networkingv1.Sidecar {
		return egress(name, namespace, second, "*/*")
	}
	tests := []struct {
		name    string
		objects []any
		want    string
	}{
		{"none", nil, ""},
		{"namespace's", []any{general("ns", "client", 0)}, "ns"},
		{"selector first", []any{general("ns", "client", 0), selecting(general("sel", "client", 5), "c")}, "sel"},
		{"selector of others", []any{general("ns", "client", 0), selecting(general("sel", "client", 5), "x")}, "ns"},
		{"oldest selector", []any{selecting(general("young", "client", 5), "c"), selecting(general("old", "client", 1), "c")}, "old"},
		{"oldest without", []any{general("young", "client", 5), general("old", "client", 1)}, "old"},
		{"root", []any{general("root", "istio-system", 0)}, "root"},
		{"own before root", []any{general("root", "istio-system", 0), general("ns", "client", 5)}, "ns"},
		{"root with selector is no default", []any{selecting(general("root", "istio-system", 0), "c")}, ""},
		{"of others", []any{general("x", "other", 0)}, ""},
	}
	for _, tt := range tests {
		s := scope.For(snapshot(t, tt.objects...), client("client", "app", "c"))
		if s.Key.Sidecar.Name != tt.want || (s.Sidecar != nil) != (tt.want != "") {
			t.Errorf("%s: %q applies, want %q", tt.name, s.Key.Sidecar.Name, tt.want)
		}
	}
}

// A listener with a port imports that port, of services that have it; listeners
// add up (fact 28).
func TestEgressPort(t *testing.T) {
	sidecar := egress("sc", "client", 0)
	port := func(n uint32, protocol string) *networking.SidecarPort {
		return &networking.SidecarPort{Number: n, Protocol: protocol}
	}
	objects := []any{kube("a", "ns1", 80, 90, 100), kube("b", "ns1", 70), sidecar}
	sidecar.Spec.Egress = []*networking.IstioEgressListener{{Port: port(90, "HTTP"), Hosts: []string{"ns1/*"}}}
	expectScope(t, scope.For(snapshot(t, objects...), client("client")), "ns1/a.ns1:90", "ns1/b.ns1=listener-port")

	sidecar.Spec.Egress = append(sidecar.Spec.Egress, &networking.IstioEgressListener{Port: port(80, "HTTP"), Hosts: []string{"ns1/*"}})
	expectScope(t, scope.For(snapshot(t, objects...), client("client")), "ns1/a.ns1:90,80", "ns1/b.ns1=listener-port")

	route := routeTo("r", "ns1", "a", &networking.Destination{Host: "c.ns2.svc.cluster.local"})
	routed := append(objects, route, kube("c", "ns2", 80, 90, 100), kube("d", "ns2", 100))
	sidecar.Spec.Egress = sidecar.Spec.Egress[:1]
	expectScope(t, scope.For(snapshot(t, routed...), client("client")), "ns1/a.ns1:90 ns2/c.ns2:90", "ns1/b.ns1=listener-port ns2/d.ns2=not-imported")

	sidecar.Spec.Egress = []*networking.IstioEgressListener{{Port: port(15080, "HTTP_PROXY"), Hosts: []string{"ns1/*"}}}
	expectScope(t, scope.For(snapshot(t, objects...), client("client")), "ns1/a.ns1:80,90,100 ns1/b.ns1:70", "")

	twice := kube("dns", "ns1", 53, 53)
	twice.Ports[0].Protocol = model.ProtocolUDP
	sidecar.Spec.Egress = []*networking.IstioEgressListener{{Port: port(53, "TCP"), Hosts: []string{"ns1/*"}}}
	im := scope.For(snapshot(t, twice, sidecar), client("client")).Import(twice.Key.Hostname)
	if im == nil || len(im.Definition.Ports) != 1 || im.Definition.Ports[0].Protocol != model.ProtocolUDP {
		t.Errorf("of two ports of one number %v is imported, want the first", im)
	}
}

func routeTo(name, namespace, host string, d *networking.Destination, change ...func(*networking.VirtualService)) *networkingv1.VirtualService {
	vs := &networkingv1.VirtualService{ObjectMeta: meta(name, namespace, 0), Spec: networking.VirtualService{
		Hosts: []string{host}, Http: []*networking.HTTPRoute{{Route: []*networking.HTTPRouteDestination{{Destination: d}}}},
	}}
	for _, c := range change {
		c(&vs.Spec)
	}
	return vs
}

// What VirtualServices in scope send requests to is imported too (fact 28).
func TestRoutesImport(t *testing.T) {
	const x = "ns1.svc.cluster.local"
	dest := func(host string, port uint32) *networking.Destination {
		d := &networking.Destination{Host: host}
		if port != 0 {
			d.Port = &networking.PortSelector{Number: port}
		}
		return d
	}
	tests := []struct {
		name  string
		route *networkingv1.VirtualService
		want  string
	}{
		{"by host", routeTo("r", "ns1", "in."+x, dest("out."+x, 0)), "ns1/in.ns1:80 ns1/out.ns1:80,90"},
		{"short name", routeTo("r", "ns1", "in", dest("out", 0)), "ns1/in.ns1:80 ns1/out.ns1:80,90"},
		{"only its port", routeTo("r", "ns1", "in."+x, dest("out."+x, 90)), "ns1/in.ns1:80 ns1/out.ns1:90"},
		{"a port that is not there", routeTo("r", "ns1", "in."+x, dest("out."+x, 91)), "ns1/in.ns1:80"},
		{"host out of scope", routeTo("r", "ns1", "out."+x, dest("out."+x, 0)), "ns1/in.ns1:80"},
		{"wildcard host", routeTo("r", "ns1", "*."+x, dest("out."+x, 0)), "ns1/in.ns1:80 ns1/out.ns1:80,90"},
		{"not exported", routeTo("r", "ns1", "in."+x, dest("out."+x, 0), func(v *networking.VirtualService) { v.ExportTo = []string{"."} }), "ns1/in.ns1:80"},
		{"for gateways", routeTo("r", "ns1", "in."+x, dest("out."+x, 0), func(v *networking.VirtualService) { v.Gateways = []string{"gw"} }), "ns1/in.ns1:80"},
		{"from elsewhere", routeTo("r", "ns1", "in."+x, dest("out."+x, 0), func(v *networking.VirtualService) {
			v.Http[0].Match = []*networking.HTTPMatchRequest{{SourceNamespace: "other"}}
		}), "ns1/in.ns1:80"},
		{"TCP from elsewhere", routeTo("r", "ns1", "in."+x, dest("in."+x, 0), func(v *networking.VirtualService) {
			v.Tcp = []*networking.TCPRoute{{
				Match: []*networking.L4MatchAttributes{{SourceNamespace: "other"}}, Route: []*networking.RouteDestination{{Destination: dest("out."+x, 80)}},
			}}
			v.Tls = []*networking.TLSRoute{{
				Match: []*networking.TLSMatchAttributes{{SourceNamespace: "other"}}, Route: []*networking.RouteDestination{{Destination: dest("out."+x, 90)}},
			}}
		}), "ns1/in.ns1:80 ns1/out.ns1:80,90"},
		{"mirror and tcp", routeTo("r", "ns1", "in."+x, dest("in."+x, 0), func(v *networking.VirtualService) {
			v.Http[0].Mirror = dest("out."+x, 80)
			v.Tcp = []*networking.TCPRoute{{Route: []*networking.RouteDestination{{Destination: dest("far.example", 0)}}}}
		}), "ns2/far.example:80 ns1/in.ns1:80 ns1/out.ns1:80"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			snap := snapshot(t, egress("sc", "client", 0, "ns1/in.ns1.svc.cluster.local"), kube("in", "ns1"), kube("out", "ns1", 80, 90), entry("far.example", "ns2", 1), tt.route)
			s := scope.For(snap, client("client"))
			if got := imports(s); got != tt.want {
				t.Errorf("imports\n  %s\nwant\n  %s", got, tt.want)
			}
			if i := s.Import("out.ns1.svc.cluster.local"); i != nil && (i.Why != scope.WhyRoute || i.Via.Kind != model.KindVirtualService) {
				t.Errorf("out is imported because %v via %v", i.Why, i.Via)
			}
		})
	}
}

// A route takes its delegate's destinations, those of requests that get there.
func TestDelegates(t *testing.T) {
	root := routeTo("root", "ns1", "in", nil, func(v *networking.VirtualService) {
		v.Http = []*networking.HTTPRoute{{Delegate: &networking.Delegate{Name: "inner", Namespace: "ns2"}}}
	})
	inner := routeTo("inner", "ns2", "", &networking.Destination{Host: "out"}, func(v *networking.VirtualService) { v.Hosts = nil })
	objects := []any{egress("sc", "client", 0, "ns1/*"), kube("in", "ns1"), kube("out", "ns2"), root, inner}
	expectScope(t, scope.For(snapshot(t, objects...), client("client")), "ns1/in.ns1:80 ns2/out.ns2:80", "")

	root.Spec.Http[0].Match = []*networking.HTTPMatchRequest{{SourceNamespace: "other"}}
	expectScope(t, scope.For(snapshot(t, objects...), client("client")), "ns1/in.ns1:80", "ns2/out.ns2=not-imported")
}

// The definition that a route means is the client's own, else that of the first
// namespace which it sees, Kubernetes' before others.
func TestRoutePicksANamespace(t *testing.T) {
	route := routeTo("r", "ns1", "in", &networking.Destination{Host: "x.example"})
	base := []any{egress("sc", "client", 0, "ns1/*"), kube("in", "ns1"), route}
	two := append(base, exported(entry("x.example", "a", 1), "."), entry("x.example", "c", 2), entry("x.example", "b", 3))
	expectScope(t, scope.For(snapshot(t, two...), client("client")), "ns1/in.ns1:80 b/x.example:80", "a/x.example=not-exported c/x.example=not-imported")
	own := append(two, exported(entry("x.example", "client", 4), "~"))
	if got := imports(scope.For(snapshot(t, own...), client("client"))); got != "ns1/in.ns1:80 client/x.example:80" {
		t.Errorf("imports %s", got)
	}
}
