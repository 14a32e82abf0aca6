package server

import (
	"net/http"
	"reflect"
	"testing"

	"github.com/edsight/edsight/views"
)

// TestSlicesAPI: the API has the findings of the page, a part at a time, as described.
func TestSlicesAPI(t *testing.T) {
	v := newVisitor(t)
	for query, page := range map[string]string{"": "", "?kind=unknown-port": "?kind=unknown-port", "?namespace=ops": "?namespace=ops", "?q=cart&limit=1": "?q=cart"} {
		m, j := twinOf[views.Slices](v, "/slices"+page), twinOf[slicesJSON](v, "/api/v1/slices"+query)
		if !reflect.DeepEqual(j.Items, m.Findings) || j.Total != len(m.Findings) || j.Version != m.State.Version {
			t.Errorf("%s: the API has %d of %d %+v, the page %+v", query, len(j.Items), j.Total, j.Items, m.Findings)
		}
		if j.Slices != 2 || j.Endpoints != 4 || !j.Partial {
			t.Errorf("%d slices, %d endpoints, partial %t", j.Slices, j.Endpoints, j.Partial)
		}
	}
	if j := twinOf[slicesJSON](v, "/api/v1/slices?offset=1&limit=1"); j.Total != 2 || len(j.Items) != 1 || j.Items[0].Kind != "unknown-port" {
		t.Errorf("the second of two is %+v", j)
	}
	if a := v.get("/api/v1/slices?limit=x", "application/json"); a.StatusCode != http.StatusBadRequest {
		t.Errorf("a limit that is no number: %d", a.StatusCode)
	}
	v.described("/api/v1/slices")
}

// TestClustersAPI: the API has the clusters and networks of the page, as described.
func TestClustersAPI(t *testing.T) {
	v := newVisitor(t)
	m, j := twinOf[views.Clusters](v, "/clusters"), twinOf[clustersJSON](v, "/api/v1/clusters")
	if !reflect.DeepEqual(j, clustersJSON{m.State.Version, m.Clusters, m.Networks}) || len(j.Clusters) == 0 || len(j.Networks) == 0 {
		t.Errorf("the API has %+v, the page %+v", j, m)
	}
	v.described("/api/v1/clusters")
}

// described holds an answer against its description.
func (v *visitor) described(path string) {
	v.t.Helper()
	d := describe(v.t)
	schema := d.at(map[string]any(d), "paths", path, "get", "responses", "200", "content", "application/json", "schema")
	for _, wrong := range d.check(schema, twinOf[any](v, path), path) {
		v.t.Error(wrong)
	}
}
