package scope_test

import (
	"testing"

	networking "istio.io/api/networking/v1alpha3"
	"pgregory.net/rapid"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
)

// anyObjects draws definitions, of which many have a hostname in common, and a
// Sidecar.
func anyObjects(t *rapid.T) []any {
	hosts := []string{"a.ns1.svc.cluster.local", "x.example.com", "*.example.com", "a.b"}
	namespaces := []string{"client", "ns1", "ns2"}
	var out []any
	for i := range rapid.IntRange(0, 10).Draw(t, "definitions") {
		host, ns := rapid.SampledFrom(hosts).Draw(t, "host"), rapid.SampledFrom(namespaces).Draw(t, "namespace")
		d := entry(host, ns, i, rapid.SliceOfN(rapid.SampledFrom([]uint32{80, 90}), 1, 2).Draw(t, "ports")...)
		if rapid.IntRange(0, 3).Draw(t, "provider") == 0 {
			d = kube("a", ns)
		}
		d.ExportTo = rapid.SliceOfN(rapid.SampledFrom([]string{"*", ".", "~", "client", "ns2"}), 0, 2).Draw(t, "exportTo")
		d.Object.Name += string(rune('a' + i))
		out = append(out, d)
	}
	if rapid.Bool().Draw(t, "sidecar") {
		s := egress("sc", "client", 0, rapid.SliceOfN(rapid.SampledFrom([]string{"*/*", "./*", "~/*", "ns1/*", "*/*.example.com", "ns2/a.b", "bad", "a/b/c"}), 0, 3).Draw(t, "hosts")...)
		if rapid.Bool().Draw(t, "port") {
			s.Spec.Egress[0].Port = &networking.SidecarPort{Number: 90, Protocol: "HTTP"}
		}
		out = append(out, s, routeTo("r", "ns1", "a.b", &networking.Destination{Host: rapid.SampledFrom(hosts).Draw(t, "destination")}))
	}
	return out
}

// Every definition is in use or excluded, once; one is in use per hostname; and
// the result is the same each time.
func TestEveryDefinitionHasAnAnswer(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		objects := anyObjects(rt)
		snap := snapshot(t, objects...)
		for _, p := range []*model.Proxy{client("client"), client("ns1"), router("client")} {
			s := scope.For(snap, p)
			answers := map[model.ObjectKey]int{}
			hosts := map[model.Hostname]bool{}
			for _, i := range s.Imports {
				answers[i.Definition.Object]++
				if hosts[i.Definition.Key.Hostname] || !i.Why.Used() || s.Import(i.Definition.Key.Hostname) == nil {
					rt.Fatalf("bad import of %v: %v", i.Definition.Key, i.Why)
				}
				hosts[i.Definition.Key.Hostname] = true
			}
			for _, e := range s.Excluded {
				answers[e.Definition.Object]++
				if e.Why.Used() {
					rt.Fatalf("%v is excluded because %v", e.Definition.Key, e.Why)
				}
			}
			for _, o := range objects {
				if d, ok := o.(*model.Service); ok && answers[d.Object] != 1 {
					rt.Fatalf("%v has %d answers: in use %s; not %s", d.Object, answers[d.Object], imports(s), excluded(s))
				}
			}
			if again := scope.For(snap, p); imports(again) != imports(s) || excluded(again) != excluded(s) {
				rt.Fatal("the second time differs")
			}
		}
	})
}
