package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

func twinOf[T any](v *visitor, path string) T {
	v.t.Helper()
	var m T
	if err := json.Unmarshal([]byte(v.get(path, "application/json").body), &m); err != nil {
		v.t.Fatalf("%s: %v", path, err)
	}
	return m
}

// TestSlicesPage lists what is wrong with slices, by kind, namespace and name.
func TestSlicesPage(t *testing.T) {
	v := newVisitor(t)
	for query, want := range map[string]string{
		"":                    "stale-endpoint unknown-port",
		"?kind=unknown-port":  "unknown-port",
		"?namespace=shop":     "stale-endpoint unknown-port",
		"?namespace=ops":      "",
		"?q=cart":             "unknown-port",
		"?q=web-abc12":        "stale-endpoint",
		"?q=shop/web&kind=no": "",
	} {
		m := twinOf[views.Slices](v, "/slices"+query)
		var got []string
		for _, f := range m.Findings {
			got = append(got, f.Kind)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s shows %v, not %s", query, got, want)
		}
		if m.Slices != 2 || m.Endpoints != 4 || !m.Partial {
			t.Errorf("%d slices, %d endpoints, partial %t", m.Slices, m.Endpoints, m.Partial)
		}
	}
	if page := v.html("/slices"); !strings.Contains(v.part(page, "finding-unknown-port"), "give both ports the same name") {
		t.Error("the page does not say what to do")
	}
}

// TestClustersPage sums up what comes from each cluster and is in each network, of
// clusters that are not watched, too.
func TestClustersPage(t *testing.T) {
	core := newFakeCore()
	b := state.NewBuilder(core.snap)
	b.SetProxy("far.ops", &model.Proxy{ID: "far.ops", Namespace: "ops", Cluster: "west", Network: "n2"})
	b.SetGateways([]state.Gateway{{Network: "n1", Cluster: "east", Addr: "1.2.3.4", Port: 15443}})
	core.snap = b.Snapshot(core.snap.Time)
	core.status.Source.Clusters = append(core.status.Source.Clusters, source.ClusterStatus{ID: "east", Sync: "syncing", Error: "no route", SecretName: "istio-system/east"})
	v := &visitor{newTestServer(t, core, Options{Token: testToken}), t, nil}
	m := twinOf[views.Clusters](v, "/clusters")
	if len(m.Clusters) != 3 || len(m.Networks) != 3 {
		t.Fatalf("%+v", m)
	}
	kube, east, west := m.Clusters[0], m.Clusters[1], m.Clusters[2]
	if !kube.Connected || kube.Endpoints != 1 || kube.Slices != 1 || kube.Proxies != 2 {
		t.Errorf("Kubernetes is %+v", kube)
	}
	if !east.Watched || east.Connected || east.Error != "no route" || east.Networks[0] != "n1" || west.Watched || west.Proxies != 1 {
		t.Errorf("east is %+v, west is %+v", east, west)
	}
	page := v.html("/clusters")
	for _, want := range []string{"1.2.3.4:15443", "Secret istio-system/east", "cannot be reached", "not watched"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
