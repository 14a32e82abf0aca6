package compare_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/compare"
	"github.com/edsight/edsight/core/debugz"
	"github.com/edsight/edsight/core/state"
)

// dumps is what the debug handlers of a control plane say of the client.
func dumps(tb testing.TB) map[string][]byte {
	tb.Helper()
	return dumpsOf(tb, newShop(tb).Snapshot())
}

func dumpsOf(tb testing.TB, snap *state.Snapshot) map[string][]byte {
	tb.Helper()
	clusters := cds.Build(snap, snap.Proxy(client))
	var eds, dump bytes.Buffer
	if err := debugz.WriteConfigs(&eds, new(debugz.Texts).Of(clusters), ""); err != nil {
		tb.Fatal(err)
	}
	parts, err := debugz.ConfigDump(clusters, snap.Mesh, true)
	if err != nil {
		tb.Fatal(err)
	}
	if err := debugz.WriteConfigs(&dump, func(yield func(debugz.Message) bool) {
		for _, p := range parts {
			if !yield(p) {
				return
			}
		}
	}, "  "); err != nil {
		tb.Fatal(err)
	}
	return map[string][]byte{"edsz": eds.Bytes(), "config_dump": dump.Bytes()}
}

// oddities are endpoints of all kinds: on a pipe, in IPv6, draining, not ready, of
// some weight, and behind a tunnel.
const oddities = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: odd, namespace: shop}
spec:
  hosts: [odd.example.com]
  resolution: STATIC
  ports: [{name: tcp, number: 25, protocol: TCP}]
  endpoints: [{address: "unix:///run/odd.sock"}, {address: "2001:db8::1", weight: 7, locality: r2/c}, {address: 192.0.2.1, labels: {networking.istio.io/tunnel: http}}]
---
apiVersion: v1
kind: Service
metadata: {name: api, namespace: shop, labels: {istio.io/persistent-session: cookie}}
spec: {clusterIP: 10.96.0.3, trafficDistribution: PreferClose, ports: [{name: http, port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: api-1, namespace: shop, labels: {kubernetes.io/service-name: api}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints:
- {addresses: [192.0.2.11], conditions: {ready: false, serving: true, terminating: true}}
- {addresses: [192.0.2.12], conditions: {ready: false, serving: false, terminating: false}}
- {addresses: [192.0.2.13], conditions: {ready: true}}
`

// TestControlPlaneDumpsAreOurView reads what a control plane answers, which is then
// the same as the view that it came from.
func TestControlPlaneDumpsAreOurView(t *testing.T) {
	c := newShop(t)
	c.Apply(oddities)
	want := setOf(t, c, client)
	for _, has := range []string{"/run/odd.sock", "[2001:db8::1]:25", "192.0.2.1:25", "192.0.2.11:8080 draining", "192.0.2.12:8080 unhealthy"} {
		if !strings.Contains(text(compare.Sets(want, compare.Set{})), has) {
			t.Errorf("%s is not among the endpoints", has)
		}
	}
	for format, dump := range dumpsOf(t, c.Snapshot()) {
		d, err := compare.ParseDocument(dump)
		if err != nil {
			t.Fatal(err)
		}
		if d.Party != compare.Istiod || d.Format != format || d.Proxy != "" {
			t.Errorf("%s is taken for %s of %s, proxy %q", format, d.Format, d.Party, d.Proxy)
		}
		if diff := compare.Sets(want, d.Set); !diff.Empty() || diff.Same != 4 {
			t.Errorf("%s: %d same; differs in\n%s", format, diff.Same, text(diff))
		}
	}
}

func sample(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// TestEnvoyDumps reads samples in Envoy's spelling, with all that is of no concern.
func TestEnvoyDumps(t *testing.T) {
	for name, want := range map[string]string{
		"envoy_config_dump.json": web + ": 10.0.3.0:8080 healthy p0 r1/a w1 -> not healthy p0 r1/a w1 [health]\n" +
			web + ": 10.0.3.2:8080 healthy p0 r1/a w1 -> - []\n" +
			web + ": 10.0.3.9:8080 - -> healthy p0 r1/a w1 []\n",
		"envoy_clusters.json": web + ": 10.0.3.0:8080 healthy p0 r1/a w1 -> healthy, ejected by outlier detection p0 r1/a w1 [health]\n",
	} {
		d, err := compare.ParseDocument(sample(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if d.Party != compare.Envoy {
			t.Errorf("%s is taken for %s", name, d.Party)
		}
		if wantProxy := map[string]string{"envoy_config_dump.json": client}[name]; d.Proxy != wantProxy {
			t.Errorf("%s is of proxy %q, want %q", name, d.Proxy, wantProxy)
		}
		if diff := cmp.Diff(want, text(compare.Sets(setOf(t, newShop(t), client), d.Set))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestDocumentsThatAreNone(t *testing.T) {
	const assignment = `{"@type":"type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment","clusterName":"outbound|80||web"}`
	for _, c := range []struct{ name, text, says string }{
		{"empty", " \n", "it is empty"},
		{"compressed", "\x1f\x8b\x08", "compressed, as an exported snapshot is"},
		{"no JSON", "{\n  \"configs\": [}\n", "line 2, column 15: invalid character '}'"},
		{"a page", "<html>", "line 1, column 1"},
		{"a list", "[1]", "cannot unmarshal array"},
		{"another object", `{"kind": "Pod", "spec": {}}`, `neither "configs" nor "cluster_statuses", but "kind", "spec"`},
		{"no object", `{}`, "but nothing"},
		{"configs is no list", `{"configs": {}}`, `"configs" is no list`},
		{"no configs", `{"configs": []}`, `"configs" is empty`},
		{"without endpoints", `{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.ClustersConfigDump"}]}`, "ask for config_dump?include_eds"},
		{"twice", `{"configs": [` + assignment + "," + assignment + `]}`, `cluster "outbound|80||web" is there twice`},
		{"wrong field", `{"configs": [{"@type": "x/envoy.config.endpoint.v3.ClusterLoadAssignment", "endpoints": 1}]}`, `element 0 of "configs"`},
		{"wrong port", `{"cluster_statuses": [{"name": "outbound|80||web", "host_statuses": [{"address": {"socket_address": {"port_value": -1}}}]}]}`, "portValue"},
		{"deep", strings.Repeat("[", 200), "nested deeper than 100"},
		{"many", `{"configs": [` + strings.Repeat("{},", 2<<20) + `{}]}`, "more than 2097152 objects"},
		{"keys", `{"configs": []` + strings.Repeat(`,"a":1`, 1001) + `}`, "more than 1000 keys"},
	} {
		_, err := compare.ParseDocument([]byte(c.text))
		if !errors.Is(err, compare.ErrDocument) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s", c.name, err, c.says)
		}
	}
	if _, err := compare.ParseDocument(make([]byte, compare.MaxDocument+1)); err == nil || !strings.Contains(err.Error(), "longer than 64 MiB") {
		t.Errorf("too long: %v", err)
	}
}

func TestReport(t *testing.T) {
	d, err := compare.ParseDocument(sample(t, "envoy_config_dump.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cluster, address, says string
		has                    int
	}{
		{web, "10.0.3.9", "Envoy has 10.0.3.9:8080: healthy, priority 0, weight 1", 1},
		{web, "10.0.3.9:8080", "Envoy has 10.0.3.9:8080", 1},
		{web, "10.9.9.9", "Envoy does not have it among the 3 of the cluster", 0},
		{web, "", "Envoy has 3 endpoints in the cluster", 3},
		{"outbound|80||other", "10.0.3.9", "Envoy has no cluster outbound|80||other", 0},
	} {
		if r := d.Report(c.cluster, c.address); !strings.Contains(r.Text, c.says) || len(r.Endpoints) != c.has || r.Cluster != (c.cluster == web) {
			t.Errorf("%s of %s: %+v, want %s", c.address, c.cluster, r, c.says)
		}
	}
}

// TestReportOfEjected: what Envoy has and does not use is said, of one and of all.
func TestReportOfEjected(t *testing.T) {
	d, err := compare.ParseDocument(sample(t, "envoy_clusters.json"))
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]compare.Report{
		"10.0.3.0": {Idle: 1, Text: "Envoy has 10.0.3.0:8080 (healthy, ejected by outlier detection) and balances no requests to it"},
		"10.0.3.1": {Text: "Envoy has 10.0.3.1:8080: healthy, priority 1, weight 1"},
		"":         {Idle: 1, Text: "Envoy has 3 endpoints in the cluster, and balances no requests to 1 of them: 10.0.3.0:8080 (healthy, ejected by outlier detection)"},
	} {
		if r := d.Report(web, address); r.Idle != want.Idle || r.Text != want.Text {
			t.Errorf("%q: %d %s", address, r.Idle, r.Text)
		}
	}
}

func TestParseCluster(t *testing.T) {
	for name, want := range map[string]compare.Target{
		web:                                {Host: "web.shop.svc.cluster.local", Port: 80},
		"outbound|443|v2|*.example.com":    {Host: "*.example.com", Port: 443, Subset: "v2"},
		"outbound_.80_.v1_.web.shop.local": {Host: "web.shop.local", Port: 80, Subset: "v1", Passthrough: true},
	} {
		if got, ok := compare.ParseCluster(name); !ok || got != want {
			t.Errorf("%s: %+v, %t", name, got, ok)
		}
	}
	for _, name := range []string{"", "inbound|80||", "outbound", "outbound|80|x", "outbound|-1||h", "outbound|99999||h", "BlackHoleCluster"} {
		if got, ok := compare.ParseCluster(name); ok {
			t.Errorf("%s is taken for %+v", name, got)
		}
	}
}

// FuzzParseDocument wants an error or a document, in which every difference to
// nothing is counted.
func FuzzParseDocument(f *testing.F) {
	for _, text := range dumps(f) {
		f.Add(text)
	}
	f.Add(sample(f, "envoy_config_dump.json"))
	f.Add(sample(f, "envoy_clusters.json"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := compare.ParseDocument(b)
		if err != nil {
			if !errors.Is(err, compare.ErrDocument) {
				t.Errorf("%v is no ErrDocument", err)
			}
			return
		}
		all := 0
		for _, list := range d.Set.Clusters {
			all += len(list)
		}
		if n := compare.Sets(compare.Set{}, d.Set).OnlyThere; n != all {
			t.Errorf("%d endpoints differ from none, there are %d", n, all)
		}
		for name := range d.Set.Clusters {
			d.Report(name, "10.0.0.1")
			compare.ParseCluster(name)
		}
	})
}

func FuzzParseCluster(f *testing.F) {
	f.Add(web)
	f.Add("outbound_.80_.v1_.web.shop.local")
	f.Fuzz(func(t *testing.T, name string) {
		if target, ok := compare.ParseCluster(name); ok && target.Port > 65535 {
			t.Errorf("%q has port %d", name, target.Port)
		}
	})
}
