package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// newExplainer is a visitor of a server that has the objects too.
func newExplainer(t *testing.T) *visitor {
	t.Helper()
	core := coretest.New(t)
	core.Apply(shop)
	return &visitor{newTestServer(t, core, Options{Token: testToken, Objects: core.Store}), t, core}
}

func explainWeb(address string) string {
	return views.ExplainURL("web-1.shop", "web.shop.svc.cluster.local", 80, "", address)
}

// TestExplainPage shows the sentence and the steps, of which the first that failed
// is open.
func TestExplainPage(t *testing.T) {
	v := newExplainer(t)
	page := v.html(explainWeb("10.1.0.2"))
	if got := v.part(page, "sentence"); !strings.Contains(got, "✗ absent") || !strings.Contains(got, "is not ready") {
		t.Errorf("the sentence is %.400s", got)
	}
	if got := v.part(page, "step-failed"); !strings.Contains(got, "<details open") || !strings.Contains(got, "ready=true") {
		t.Errorf("the failed step is %.600s", got)
	}
	if n := strings.Count(page, "<details open"); n != 1 {
		t.Errorf("%d steps are open, want 1", n)
	}
	if page = v.html(explainWeb("10.1.0.1")); !strings.Contains(v.part(page, "sentence"), "✓ present") || strings.Contains(page, "step-failed") {
		t.Error("the endpoint that is there is not shown so")
	}
}

// TestExplainAPI gives programs the same answer.
func TestExplainAPI(t *testing.T) {
	v := newExplainer(t)
	var got struct {
		Snapshot uint64
		Present  bool
		Cause    string
		Object   string
		Steps    []struct{ Name, Verdict string }
	}
	query := strings.TrimPrefix(explainWeb("10.1.0.3"), "/explain?")
	if err := json.Unmarshal([]byte(v.get("/api/v1/explain?"+query, "application/json").body), &got); err != nil {
		t.Fatal(err)
	}
	if got.Present || got.Cause != "pod-not-seen" || got.Object != "EndpointSlice/shop/web-abc12" || got.Snapshot == 0 || len(got.Steps) == 0 {
		t.Errorf("got %+v", got)
	}
}

// TestExplainBadQuestions are refused with words.
func TestExplainBadQuestions(t *testing.T) {
	v := newExplainer(t)
	for query, status := range map[string]int{
		"":                                   http.StatusBadRequest,
		"proxy=web-1.shop":                   http.StatusBadRequest,
		"proxy=web-1.shop&host=a":            http.StatusBadRequest,
		"proxy=web-1.shop&host=a&port=":      http.StatusBadRequest,
		"proxy=web-1.shop&host=a&port=0":     http.StatusBadRequest,
		"proxy=web-1.shop&host=a&port=70000": http.StatusBadRequest,
		"proxy=nobody.shop&host=a&port=80":   http.StatusNotFound,
		"proxy=web-1.shop&host=a&port=80":    http.StatusOK,
		"address=10.1.0.1":                   http.StatusOK,
	} {
		if a := v.get("/api/v1/explain?"+query, "application/json"); a.StatusCode != status {
			t.Errorf("%s: %d %s, want %d", query, a.StatusCode, a.body, status)
		}
	}
	if page := v.html("/explain?proxy=web-1.shop"); !strings.Contains(page, `data-testid="problem"`) {
		t.Error("the page does not say what is wrong with the question")
	}
}

// TestTracePage shows everything about an address.
func TestTracePage(t *testing.T) {
	v := newExplainer(t)
	page := v.html(views.TraceURL("10.1.0.2"))
	if got := v.part(page, "offers"); !strings.Contains(got, "web-abc12") || !strings.Contains(got, "unhealthy") {
		t.Errorf("it is listed by %.500s", got)
	}
	if m := twinOf[views.Explain](v, views.TraceURL("shop/web-1")).Trace; m.Address != "10.1.0.1" || len(m.Holders) != 1 {
		t.Errorf("a Pod's trace is %+v", m)
	}
	pending, _, _ := strings.Cut(podShop, "status:")
	v.core.Apply(strings.Replace(pending, "web-1", "late", 1))
	if got := v.part(v.html(views.TraceURL("late")), "trace-sentence"); !strings.Contains(got, "late is no IP address, and <a") || !strings.Contains(got, ">Pod shop/late</a>, which is called so, has none. No slice") {
		t.Errorf("of a Pod without address it says %s", got)
	}
	if got := v.part(page, "holders"); !strings.Contains(got, "✗ no") || !strings.Contains(got, "/explain?") {
		t.Errorf("the proxies are %.500s", got)
	}
}

// TestExplainKeepsMarkupText holds that names never become markup.
func TestExplainKeepsMarkupText(t *testing.T) {
	v := newExplainer(t)
	evil := `<img src=x onerror="alert(1)">`
	for _, path := range []string{
		"/explain?" + url.Values{"proxy": {"web-1.shop"}, "host": {evil}, "port": {"80"}, "subset": {evil}, "address": {evil}}.Encode(),
		"/explain?address=" + url.QueryEscape(evil), "/search?q=" + url.QueryEscape(evil),
	} {
		if page := v.html(path); strings.Contains(page, "<img") || !strings.Contains(page, "&lt;img") {
			t.Errorf("%s has markup in it, or not the text", path)
		}
	}
}

// TestSearchSpelling finds addresses however object and question write them.
func TestSearchSpelling(t *testing.T) {
	v := newExplainer(t)
	v.core.Apply(`apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: six, namespace: shop}
spec:
  hosts: [six.example.com]
  addresses: ["2001:DB8::10"]
  ports: [{name: http, number: 80, protocol: HTTP}]
  resolution: STATIC
  endpoints: [{address: "2001:DB8::7"}]
`)
	six := views.ServiceURL(model.ServiceKey{Namespace: "shop", Hostname: "six.example.com"})
	for q, want := range map[string]string{
		"2001:DB8::10": six, "2001:db8:0::10": six,
		"2001:DB8::7": views.TraceURL("2001:DB8::7"), "[2001:db8::7]:80": views.TraceURL("2001:DB8::7"),
	} {
		c := client()
		c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		a := do(t, c, http.MethodGet, v.url+"/search?q="+url.QueryEscape(q), bearer)
		if got := a.Header.Get("Location"); a.StatusCode != http.StatusSeeOther || got != want {
			t.Errorf("%s: %d %s, want to go to %s", q, a.StatusCode, got, want)
		}
	}
}

// TestSearchEverything goes where the one exact hit leads, and lists the others.
func TestSearchEverything(t *testing.T) {
	v := newExplainer(t)
	for q, want := range map[string]string{
		"web.shop.svc.cluster.local": views.ServiceURL(webKey()),
		"web-1.shop":                 views.ProxyURL("web-1.shop"),
		"10.1.0.2":                   views.TraceURL("10.1.0.2"),
		"Pod/shop/web-3":             views.TraceURL("10.1.0.3"),
		"1":                          views.TransitionURL(1),
	} {
		c := client()
		c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		a := do(t, c, http.MethodGet, v.url+"/search?q="+url.QueryEscape(q), bearer)
		if got := a.Header.Get("Location"); a.StatusCode != http.StatusSeeOther || got != want {
			t.Errorf("%s: %d %s, want to go to %s", q, a.StatusCode, got, want)
		}
	}
	page := v.html("/search?q=web")
	for _, want := range []string{views.ServiceURL(webKey()), views.ProxyURL("web-1.shop"), views.TraceURL("10.1.0.1")} {
		if !strings.Contains(page, `href="`+want+`"`) {
			t.Errorf("the hits lack %s", want)
		}
	}
	if page := v.html("/search?q=nothing-is-called-so"); !strings.Contains(page, `data-testid="empty"`) {
		t.Error("nothing found is not said")
	}
}

// TestWaitingRoom holds the candidate that waits for its Pod until it comes, and no
// orphan.
func TestWaitingRoom(t *testing.T) {
	v := newExplainer(t)
	page := v.html("/waiting")
	if got := v.part(page, "waiting"); !strings.Contains(got, "10.1.0.3") || !strings.Contains(got, "web-3") {
		t.Errorf("waiting are %.400s", got)
	}
	if !strings.Contains(page, `data-testid="no-orphans"`) {
		t.Error("there are orphans")
	}
	for _, want := range []string{"edsight_waiting_candidates 1", "edsight_orphans 0"} {
		if body := v.get("/metrics", "text/plain").body; !strings.Contains(body, want+"\n") {
			t.Errorf("the metrics lack %s", want)
		}
	}
	v.core.Apply(strings.NewReplacer("web-1", "web-3", "10.1.0.1", "10.1.0.3").Replace(podShop))
	if body := v.get("/metrics", "text/plain").body; !strings.Contains(body, "edsight_waiting_candidates 0\n") {
		t.Error("the Pod came, and the room is not empty")
	}
	seen := v.core.Apply(strings.NewReplacer("web-abc12", "web-def34", "10.1.0.1", "10.1.0.8", "web-1", "web-8").Replace(sliceOfWeb("web", "true"))).Times.Seen
	if m := twinOf[views.Waiting](v, "/waiting"); !m.Rows[0].Since.Equal(seen) || m.Rows[0].AtLeast {
		t.Errorf("what waits since %v is %+v", seen, m.Rows[0])
	}
	v.core = v.core.Rebuilt()
	v.testServer = newTestServer(t, v.core, Options{Token: testToken, Objects: v.core.Store})
	if m := twinOf[views.Waiting](v, "/waiting"); m.Rows[0].Since.IsZero() || !m.Rows[0].AtLeast {
		t.Errorf("what was found waiting at the start is %+v", m.Rows[0])
	}
}

// TestOrphansAreFound holds that the list is not empty by construction.
func TestOrphansAreFound(t *testing.T) {
	core := newFakeCore()
	s := New(core, Options{Objects: coretest.New(t).Store})
	if list := s.orphans(core.snap); len(list) != 1 || list[0].candidate.Source.Name != "web-1" {
		t.Errorf("%d orphans, want the slice that the source does not have", len(list))
	}
}

// TestExplainNamesNothingForeign asks as a viewer of another namespace: nothing of
// a namespace that it may not see is named.
func TestExplainNamesNothingForeign(t *testing.T) {
	core := newFakeCore()
	b := state.NewBuilder(core.snap)
	secret := *core.snap.Service(webKey())
	def := *secret.Definitions[0]
	def.ExportTo = []string{"."}
	secret.Definitions = []*model.Service{&def}
	b.SetService(webKey(), &secret)
	b.TouchConfig()
	core.snap = b.Snapshot(time.Unix(1700000000, 0))
	s := New(core, Options{})
	var proxy string
	for p := range core.snap.Proxies() {
		if p.Namespace == "other" {
			proxy = p.ID
		}
	}
	for _, path := range []string{
		"/api/v1/explain?proxy=" + proxy + "&host=web.shop.svc.cluster.local&port=80&address=10.0.0.1",
		"/api/v1/explain?address=10.0.0.1",
	} {
		body := seenBy(t, s, "other", path)
		for _, name := range []string{"shop/web-0", "web-1", "exportTo"} {
			if strings.Contains(body, name) {
				t.Errorf("%s names %s: %s", path, name, body)
			}
		}
	}
}

// seenBy is what a viewer of one namespace gets.
func seenBy(t *testing.T, s *Server, namespace, path string) string {
	t.Helper()
	s.sessions.bySecret[digestOf("viewer")] = &session{name: "viewer", expires: time.Now().Add(time.Hour), over: t.Context(), role: roleViewer, namespaces: []string{namespace}}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	r.Host = "localhost:8080"
	r.AddCookie(&http.Cookie{Name: "edsight-session-8080", Value: "viewer"})
	r.Header.Set("Accept", "application/json")
	w := serve(s, r)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

// TestServiceNamesNothingForeign looks at a service as a viewer of its namespace:
// proxies and definitions of another are not shown, and those of its own are.
func TestServiceNamesNothingForeign(t *testing.T) {
	core := newFakeCore()
	b := state.NewBuilder(core.snap)
	key := model.ServiceKey{Hostname: webKey().Hostname, Namespace: "other"}
	b.SetService(key, &state.ServiceState{Key: key, Version: 1, Definitions: []*model.Service{{
		Key: key, Name: "web", Provider: model.ProviderExternal, Ports: []model.Port{{Name: "http", Number: 80, Protocol: model.ProtocolHTTP}},
		Object: model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindServiceEntry, Namespace: "other", Name: "hidden"},
	}}})
	core.snap = b.Snapshot(time.Unix(1700000000, 0))
	body := seenBy(t, New(core, Options{}), "shop", views.ServiceURL(webKey())+".json")
	if !strings.Contains(body, "web-0.shop") {
		t.Errorf("it does not show the proxy of its own namespace: %s", body)
	}
	for _, name := range []string{"web-0.other", "hidden", "sidecars of other"} {
		if strings.Contains(body, name) {
			t.Errorf("it names %s: %s", name, body)
		}
	}
}
