package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/edsight/edsight/core/archive"
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

const comparePath = "/proxies/web-0.shop/compare"

// edsz is what a control plane could send to web-0.shop.
func edsz(addresses ...string) string {
	list := make([]string, len(addresses))
	for i, a := range addresses {
		list[i] = `{"endpoint":{"address":{"socketAddress":{"address":"` + a + `","portValue":8080}}},"healthStatus":"HEALTHY"}`
	}
	return `{"configs":[{"@type":"type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",` +
		`"clusterName":"outbound|80||web.shop.svc.cluster.local","endpoints":[{"lbEndpoints":[` + strings.Join(list, ",") + `]}]}]}`
}

// ask sends a request, whose answer is wanted as JSON.
func ask(t *testing.T, s *Server, method, path, body string, edit func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Host = "localhost:8080"
	r.Header.Set("Accept", "application/json")
	bearer(r)
	if edit != nil {
		edit(r)
	}
	return serve(s, r)
}

func compared(t *testing.T, w *httptest.ResponseRecorder) views.Compare {
	t.Helper()
	var m views.Compare
	if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %v %s", w.Code, err, w.Body)
	}
	return m
}

func TestCompareWithDump(t *testing.T) {
	s := New(newFakeCore(), Options{Token: testToken})
	if m := compared(t, ask(t, s, "POST", comparePath, edsz("10.0.0.1"), nil)); !m.Same || m.Equal != 1 || m.There != "istiod" {
		t.Errorf("the same: %+v", m)
	}
	m := compared(t, ask(t, s, "POST", comparePath, edsz("10.0.0.9"), nil))
	if m.Same || m.OnlyHere != 1 || m.OnlyThere != 1 || len(m.Clusters) != 1 {
		t.Fatalf("differs: %+v", m)
	}
	pairs := m.Clusters[0].Endpoints
	if pairs[0].There != nil || pairs[1].Here != nil || !strings.Contains(pairs[1].Why, "10.0.0.9") || !strings.Contains(pairs[1].Explain, "address=10.0.0.9") {
		t.Errorf("the endpoint that is not listed has no reason: %+v", pairs)
	}
	for body, says := range map[string]string{
		"":            "nothing was sent",
		"{":           "line 1",
		`{"a": "<b>`:  "line 1",
		`{"kind":"x"`: "unexpected end",
	} {
		if w := ask(t, s, "POST", comparePath, body, nil); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), says) {
			t.Errorf("%q: %d %s, want %s", body, w.Code, w.Body, says)
		}
	}
	html := func(r *http.Request) { r.Header.Set("Accept", "text/html") }
	if w := ask(t, s, "POST", comparePath, edsz("10.0.0.9"), html).Body.String(); !strings.Contains(w, "does not say whose it is") || !strings.Contains(w, "1 endpoint only in istiod<") {
		t.Errorf("a dump of nobody: %s", w)
	}
	if w := ask(t, s, "POST", comparePath, `{"<script>x</script>": 1}`, html); w.Code != http.StatusOK || strings.Contains(w.Body.String(), "<script>x") || !strings.Contains(w.Body.String(), "&lt;script&gt;x") {
		t.Errorf("markup in a dump: %d %s", w.Code, w.Body)
	}
	envoy := `{"configs":[{"@type":"x/envoy.admin.v3.BootstrapConfigDump","bootstrap":{"node":{"id":"sidecar~10.0.0.9~other-0.shop~x"}}},{"@type":"x/envoy.admin.v3.EndpointsConfigDump"}]}`
	if w := ask(t, s, "POST", comparePath, envoy, nil); !strings.Contains(w.Body.String(), "this is the dump of other-0.shop, not of web-0.shop") {
		t.Errorf("the dump of another proxy: %s", w.Body)
	}
}

func TestCompareWithProxyAndMoment(t *testing.T) {
	core := newFakeCore()
	before := core.snap
	b := state.NewBuilder(before)
	key := model.ServiceKey{Hostname: "web.shop.svc.cluster.local", Namespace: "shop"}
	old := before.Service(key)
	next := *old
	next.Shards = []*state.Shard{{Key: old.Shards[0].Key, Chunks: old.Shards[0].Chunks, Candidates: old.Shards[0].Candidates[1:]}}
	b.SetService(key, &next)
	core.snap = b.Snapshot(time.Now())
	core.journal.Append(&journal.Transition{Version: core.snap.Version, Prev: before, Next: core.snap, Diff: &state.Diff{
		Services: []state.ServiceChange{{Key: key, Prev: old, Next: &next, Endpoints: []state.EndpointChange{{Shard: old.Shards[0].Key, Before: old.Shards[0].Candidates[0]}}}},
	}})
	s := New(core, Options{Token: testToken})
	m := compared(t, ask(t, s, "GET", comparePath+"?at=1", "", nil))
	if m.OnlyThere != 1 || m.OnlyHere != 0 || m.There != "after transition 1" {
		t.Fatalf("before: %+v", m)
	}
	if p := m.Clusters[0].Endpoints[0]; p.Transition != 2 || p.Address != "10.0.0.1:8080" || p.Why == "" {
		t.Errorf("it was withdrawn by transition 2: %+v", p)
	}
	if m := compared(t, ask(t, s, "GET", comparePath+"?with=web-0.other", "", nil)); !m.Same || m.Here != "web-0.shop" || m.There != "web-0.other" {
		t.Errorf("another proxy: %+v", m)
	}
	for query, says := range map[string]string{
		"?at=9": "is not kept", "?at=x": "has a number", "?with=nobody": "there is no proxy nobody",
		"?snapshot=1": "no snapshot 1 is open", "?istiod=true": "start Edsight with --istiod",
	} {
		if w := ask(t, s, "GET", comparePath+query, "", nil); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), says) {
			t.Errorf("%s: %d %s, want %s", query, w.Code, w.Body, says)
		}
	}
}

func TestCompareWithIstiod(t *testing.T) {
	var asked string
	answer, trouble := edsz("10.0.0.1"), error(nil)
	s := New(newFakeCore(), Options{Token: testToken, Istiod: func(_ context.Context, proxy string) ([]byte, error) {
		asked = proxy
		return []byte(answer), trouble
	}})
	if m := compared(t, ask(t, s, "GET", comparePath+"?istiod=true", "", nil)); !m.Same || asked != "web-0.shop" {
		t.Errorf("asked about %q: %+v", asked, m)
	}
	answer = "not found"
	if w := ask(t, s, "GET", comparePath+"?istiod=true", "", nil); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "cannot be read") {
		t.Errorf("no dump: %d %s", w.Code, w.Body)
	}
	trouble = &url.Error{Op: "Get", URL: "http://istiod.internal", Err: errors.New("connection refused")}
	if w := ask(t, s, "GET", comparePath+"?istiod=true", "", nil); !strings.Contains(w.Body.String(), "connection refused") || strings.Contains(w.Body.String(), "istiod.internal") {
		t.Errorf("istiod is not there: %s", w.Body)
	}
}

// TestCompareShowsOwnNamespacesOnly is about what the path does not name: the other
// proxy, and the state that was opened.
func TestCompareShowsOwnNamespacesOnly(t *testing.T) {
	core := newFakeCore()
	s := New(core, Options{Token: testToken})
	opened := s.shelf.add(&archive.Content{Snapshot: core.snap}, "x", "somebody", time.Now())
	s.sessions.bySecret[digestOf("viewer")] = &session{name: "viewer", expires: time.Now().Add(time.Hour), over: t.Context(), role: roleViewer, namespaces: []string{"shop"}}
	viewer := func(r *http.Request) {
		r.Header.Del("Authorization")
		r.AddCookie(&http.Cookie{Name: "edsight-session-8080", Value: "viewer"})
		r.Header.Set("Origin", "http://localhost:8080")
	}
	foreign, unknown := ask(t, s, "GET", comparePath+"?with=web-0.other", "", viewer), ask(t, s, "GET", comparePath+"?with=nil-0.other", "", viewer)
	if foreign.Code != http.StatusBadRequest || strings.ReplaceAll(foreign.Body.String(), "web-0.o", "nil-0.o") != unknown.Body.String() {
		t.Errorf("foreign: %d %s, unknown: %s", foreign.Code, foreign.Body, unknown.Body)
	}
	if m := compared(t, ask(t, s, "POST", comparePath, edsz("10.0.0.1"), viewer)); !m.Same {
		t.Errorf("a viewer may compare what is his: %+v", m)
	}
	if m := compared(t, ask(t, s, "GET", comparePath+"?snapshot="+opened.key, "", viewer)); !m.Same {
		t.Errorf("a viewer may compare his proxy with a snapshot: %+v", m)
	}
	if w := ask(t, s, "GET", "/snapshots/"+opened.key, "", viewer); w.Code != http.StatusForbidden {
		t.Errorf("a viewer sees a whole snapshot: %d", w.Code)
	}
	page := ask(t, s, "GET", comparePath, "", func(r *http.Request) { viewer(r); r.Header.Set("Accept", "text/html") })
	if strings.Contains(page.Body.String(), `name="snapshot"`) {
		t.Error("a viewer is told of opened snapshots")
	}
}

// form is a body with a file.
func form(t *testing.T, name string, content []byte) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if _, err := w.CreateFormField("dump"); err != nil { // empty, as a form sends it
		t.Fatal(err)
	}
	part, err := w.CreateFormFile("file", name)
	if err == nil {
		_, err = part.Write(content)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

func exportOf(t *testing.T, s *Server) []byte {
	t.Helper()
	w := ask(t, s, "GET", exportPath, "", nil)
	if w.Code != http.StatusOK {
		t.Fatalf("export: %d %s", w.Code, w.Body)
	}
	return w.Body.Bytes()
}

// stateDiff is what is looked at of a views.SnapshotDiff.
type stateDiff struct {
	Before   views.SnapshotRef
	Same     bool
	Services []struct{ Op string }
	Proxies  []views.ProxyDiff
}

func TestSnapshotsAreOpenedComparedAndClosed(t *testing.T) {
	core := newFakeCore()
	key := model.ServiceKey{Hostname: "web.shop.svc.cluster.local", Namespace: "shop"}
	core.snap.Service(key).Shards[0].Candidates[1].Target = &model.ObjectKey{Kind: model.KindPod, Namespace: "shop", Name: "web-1"}
	s := New(core, Options{Token: testToken})
	body, contentType := form(t, `../<b>"x".edsight.gz`, exportOf(t, s))
	post := func(path, body string) *httptest.ResponseRecorder {
		return ask(t, s, "POST", path, body, func(r *http.Request) { r.Header.Set("Content-Type", contentType) })
	}
	to := post("/snapshots", body)
	if to.Code != http.StatusSeeOther || to.Header().Get("Location") != "/snapshots/1" {
		t.Fatalf("open: %d %s to %q", to.Code, to.Body, to.Header().Get("Location"))
	}
	diff := func(path string) (m stateDiff) {
		t.Helper()
		w := ask(t, s, "GET", path, "", nil)
		if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%s: %d %v %s", path, w.Code, err, w.Body)
		}
		return m
	}
	if m := diff("/snapshots/1"); !m.Same || m.Before.Name == "" || strings.Contains(m.Before.Name, "/") {
		t.Errorf("against itself: %+v", m)
	}
	b := state.NewBuilder(core.snap)
	b.SetService(key, nil)
	b.TouchConfig()
	b.SetProxy("web-0.other", nil)
	core.snap = b.Snapshot(time.Now())
	m := diff("/snapshots/1")
	if m.Same || len(m.Services) != 1 || m.Services[0].Op != "went" || len(m.Proxies) != 2 || m.Proxies[0].Op != "went" || m.Proxies[1].Removed != 1 {
		t.Errorf("after a service and a proxy went: %+v", m)
	}
	if m := compared(t, ask(t, s, "GET", m.Proxies[1].Href, "", nil)); m.OnlyThere != 1 || len(m.Clusters) != 1 || m.Clusters[0].Why == "" {
		t.Errorf("the proxy then and now: %+v", m)
	}
	for range maxOpened {
		post("/snapshots", body)
	}
	if w := ask(t, s, "GET", "/snapshots/1", "", nil); w.Code != http.StatusNotFound || len(s.shelf.all()) != maxOpened {
		t.Errorf("the oldest of too many: %d, %d are open", w.Code, len(s.shelf.all()))
	}
	if m := diff("/snapshots/2?with=3"); !m.Same {
		t.Errorf("two of the same: %+v", m)
	}
	if w := post("/snapshots/2/close", ""); w.Code != http.StatusSeeOther || s.shelf.find("2") != nil {
		t.Errorf("close: %d", w.Code)
	}
	if w := post("/snapshots/2/close", ""); w.Code != http.StatusNotFound {
		t.Errorf("close again: %d", w.Code)
	}
}

func TestSnapshotsThatCannotBeOpened(t *testing.T) {
	s := New(newFakeCore(), Options{Token: testToken})
	for body, says := range map[string]string{"": "nothing was sent", "hello": "not an archive", "\x1f\x8b": "not an archive"} {
		if w := ask(t, s, "POST", "/snapshots", body, nil); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), says) {
			t.Errorf("%q: %d %s, want %s", body, w.Code, w.Body, says)
		}
	}
	if w := ask(t, s, "POST", "/snapshots", "hello", nil); !strings.Contains(w.Body.String(), `"/snapshots#opened"`) {
		t.Errorf("no way back: %s", w.Body)
	}
	if len(s.shelf.all()) != 0 {
		t.Error("something was opened")
	}
}

// TestOneUploadAtATime refuses a second one while the first is still being sent.
func TestOneUploadAtATime(t *testing.T) {
	s := New(newFakeCore(), Options{Token: testToken})
	slow, send := io.Pipe()
	first := make(chan *httptest.ResponseRecorder)
	go func() {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, comparePath, slow)
		r.Host = "localhost:8080"
		r.Header.Set("Accept", "application/json")
		bearer(r)
		first <- serve(s, r)
	}()
	if _, err := io.WriteString(send, "{"); err != nil {
		t.Fatal(err)
	}
	if w := ask(t, s, "POST", comparePath, edsz("10.0.0.1"), nil); w.Code != http.StatusServiceUnavailable {
		t.Errorf("while another is read: %d", w.Code)
	}
	if err := send.Close(); err != nil {
		t.Fatal(err)
	}
	if w := <-first; w.Code != http.StatusBadRequest {
		t.Errorf("the first: %d", w.Code)
	}
	if w := ask(t, s, "POST", comparePath, edsz("10.0.0.1"), nil); w.Code != http.StatusOK {
		t.Errorf("afterwards: %d", w.Code)
	}
}
