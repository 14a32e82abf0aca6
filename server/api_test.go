package server

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/archive"
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// get asks with a token and decodes the answer.
func (s *testServer) get(t *testing.T, path string, into any) answer {
	t.Helper()
	a := do(t, client(), http.MethodGet, s.url+path, bearer)
	if err := json.Unmarshal([]byte(a.body), into); err != nil {
		t.Fatalf("%s: %d %v: %s", path, a.StatusCode, err, a.body)
	}
	return a
}

func TestTransitionsPage(t *testing.T) {
	core := newFakeCore()
	core.journal = journal.New(10)
	for i := range 25 {
		core.append(fmt.Sprint(i))
	}
	s := newTestServer(t, core, Options{Token: testToken})
	var body struct {
		Transitions []struct{ Seq uint64 }
		Next        uint64
		Gap         *journal.Gap
	}
	var seen []uint64
	s.get(t, "/api/v1/transitions?since=3&limit=4", &body)
	if body.Gap == nil || body.Gap.From != 3 || body.Gap.To != 15 {
		t.Errorf("gap %+v, want 3 to 15", body.Gap)
	}
	for len(body.Transitions) > 0 {
		for _, tr := range body.Transitions {
			seen = append(seen, tr.Seq)
		}
		body.Gap = nil
		s.get(t, fmt.Sprintf("/api/v1/transitions?since=%d&limit=4", body.Next), &body)
	}
	if fmt.Sprint(seen) != "[16 17 18 19 20 21 22 23 24 25]" || body.Next != 26 || body.Gap != nil {
		t.Errorf("saw %v, next %d, gap %v", seen, body.Next, body.Gap)
	}
	for _, path := range []string{"/api/v1/transitions/3", "/api/v1/transitions/26"} {
		if a := do(t, client(), http.MethodGet, s.url+path, bearer); a.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d, want 404", path, a.StatusCode)
		}
	}
}

func TestLongTransitionIsCutInListsOnly(t *testing.T) {
	core := newFakeCore()
	tr := &journal.Transition{Prev: core.snap, Next: core.snap, Diff: &state.Diff{}}
	for i := range 2 * maxCauses {
		key := model.ObjectKey{Kind: model.KindPod, Namespace: "shop", Name: fmt.Sprint(i)}
		tr.Causes = append(tr.Causes, journal.Cause{Cause: source.Cause{Key: key}, Merged: 1})
	}
	for i := range 2 * maxServices {
		c := state.ServiceChange{Key: model.ServiceKey{Hostname: model.Hostname(fmt.Sprint(i)), Namespace: "shop"}}
		for range 3 {
			c.Endpoints = append(c.Endpoints, state.EndpointChange{After: &model.Candidate{Endpoint: &model.Endpoint{}}})
		}
		tr.Diff.Services = append(tr.Diff.Services, c)
	}
	core.journal.Append(tr)
	short, whole := newTransition(tr, false), newTransition(tr, true)
	if len(short.Causes) != maxCauses || short.CauseCount != 2*maxCauses || len(short.Services) != maxServices || !short.Truncated {
		t.Errorf("%d causes, %d services, truncated %t", len(short.Causes), len(short.Services), short.Truncated)
	}
	named := 0
	for _, c := range short.Services {
		named += len(c.Endpoints)
		if c.Added != 3 {
			t.Errorf("%s: %d added, want 3 whether they are named or not", c.Hostname, c.Added)
		}
	}
	if named != maxEndpoints {
		t.Errorf("%d endpoints are named, want %d", named, maxEndpoints)
	}
	if len(whole.Causes) != 2*maxCauses || len(whole.Services) != 2*maxServices || whole.Truncated {
		t.Errorf("whole: %d causes, %d services, truncated %t", len(whole.Causes), len(whole.Services), whole.Truncated)
	}
}

func TestDebugHandlersAnswerAsIstiod(t *testing.T) {
	s := newTestServer(t, newFakeCore(), Options{Token: testToken})
	for _, tt := range []struct {
		path   string
		status int
		body   string
	}{
		{"/debug/edsz", 400, "You must provide a proxyID in the query string"},
		{"/debug/edsz?proxyID=nobody", 404, "Proxy not connected to this Pilot instance. It may be connected to another instance."},
		{"/debug/edsz?proxyID=web-0.sh", 200, `{"configs":[{"@type":"type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment","clusterName":"outbound|80||web.shop.svc.cluster.local"`},
		{"/debug/config_dump?proxyID=web-0.shop", 200, `{"configs":[{"@type":"type.googleapis.com/envoy.admin.v3.ClustersConfigDump"`},
		{"/debug/registryz", 200, `[{"Attributes":{"ServiceRegistry":"Kubernetes","Name":"web"`},
		{"/debug/registryz?pretty", 200, "[\n  {\n    \"Attributes\": {"},
		{"/debug/endpointShardz", 200, `{"web.shop.svc.cluster.local":{"shop":{"Shards":{"Kubernetes/Kubernetes":[{`},
		{"/debug/endpointz", 200, `{"web.shop.svc.cluster.local":{"shop":{"Shards":{"Kubernetes/Kubernetes":[{`},
		{"/debug/clusterz", 200, `[{"id":"Kubernetes","secretName":"","syncStatus":"synced"}]`},
		{"/debug/networkz", 200, "null\n"},
		{"/debug/mcsz", 200, "null\n"},
		{"/debug/syncz", 200, "[]\n"},
		{"/debug/configz", 200, "[]\n"},
		{"/debug/connections", 200, `{"totalClients":0}`},
		{"/debug/push_status", 200, "{\n    \"endpoint_no_pod\": {\n        \"web.shop.svc.cluster.local\": {\n            \"message\": \"10.0.0.2\""},
		{"/debug/sidecarz?proxyID=web-0.shop", 200, `{"namespace":"shop","version":"1"`},
		{"/debug/instancesz", 200, `{"web-0.other":[]`},
		{"/debug/mesh", 200, `{`},
		{"/debug/list", 200, `["adsz","adsz?push=true","cachez","cachez?clear=true","cachez?sizes=true","clusterz","config_dump","configz"`},
	} {
		a := do(t, client(), http.MethodGet, s.url+tt.path, bearer)
		if a.StatusCode != tt.status || !strings.HasPrefix(a.body, tt.body) {
			t.Errorf("%s: %d %.200s, want %d %s", tt.path, a.StatusCode, a.body, tt.status, tt.body)
		}
	}
}

func TestDebugPageListsEveryHandler(t *testing.T) {
	s := newTestServer(t, newFakeCore(), Options{Token: testToken})
	a := do(t, client(), http.MethodGet, s.url+"/debug/", bearer)
	for _, rt := range s.debugRoutes() {
		name := strings.TrimPrefix(rt.pattern, debugPrefix)
		if name != "" && name != "list" && !strings.Contains(a.body, rt.pattern) {
			t.Errorf("%s is not on the page", rt.pattern)
		}
	}
	twin := do(t, client(), http.MethodGet, s.url+"/debug/", func(r *http.Request) {
		bearer(r)
		r.Header.Set("Accept", "application/json")
	})
	var rows []views.DebugRow
	if err := json.Unmarshal([]byte(twin.body), &rows); err != nil || len(rows) == 0 {
		t.Errorf("the twin: %v %.100s", err, twin.body)
	}
}

func TestSnapshotIsAnArchive(t *testing.T) {
	core := newFakeCore()
	s := newTestServer(t, core, Options{Token: testToken, Version: "v1"})
	a := do(t, client(), http.MethodGet, s.url+"/api/v1/snapshot", bearer)
	if a.Header.Get("Content-Type") != archive.MediaType || !strings.Contains(a.Header.Get("Content-Disposition"), archive.Extension) {
		t.Errorf("headers %v", a.Header)
	}
	c, err := archive.Read(strings.NewReader(a.body), archive.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if c.Snapshot.ServiceCount() != core.snap.ServiceCount() || len(c.Transitions) != 1 || c.Header.Program != "v1" {
		t.Errorf("got %d services, %d transitions of %q", c.Snapshot.ServiceCount(), len(c.Transitions), c.Header.Program)
	}
}

func TestAnswersAreCompressedAndNotStored(t *testing.T) {
	core := newFakeCore()
	core.append(strings.Repeat("because ", 1000))
	s := newTestServer(t, core, Options{Token: testToken})
	a := do(t, client(), http.MethodGet, s.url+"/api/v1/transitions/2", func(r *http.Request) {
		bearer(r)
		r.Header.Set("Accept-Encoding", "gzip")
	})
	if a.Header.Get("Content-Encoding") != "gzip" || a.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("headers %v", a.Header)
	}
	zr, err := gzip.NewReader(bytes.NewReader([]byte(a.body)))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(zr); err != nil || !strings.Contains(string(text), "because because") {
		t.Errorf("%v %.100s", err, text)
	}
}

func TestLargeAnswersAreCapped(t *testing.T) {
	s := newTestServer(t, newFakeCore(), Options{Token: testToken})
	var one *seat
	for range maxLarge {
		one = s.large.take(s.now(), nil)
	}
	a := do(t, client(), http.MethodGet, s.url+"/debug/registryz", bearer)
	if a.StatusCode != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
		t.Errorf("one too many: %d", a.StatusCode)
	}
	s.large.leave(one)
	if a := do(t, client(), http.MethodGet, s.url+"/debug/registryz", bearer); a.StatusCode != http.StatusOK {
		t.Errorf("when one has ended: %d", a.StatusCode)
	}
}

func TestHealth(t *testing.T) {
	core := newFakeCore()
	core.status.Ready = false
	s := New(core, Options{})
	check := func(path string, want int) {
		t.Helper()
		if w := serve(s, request(t, route{method: http.MethodGet, pattern: path}, nil)); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
	check("/healthz", 200)
	check("/readyz", 503)
	core.status.Ready = true
	check("/readyz", 200)
}
