package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/views"
)

// TestPageAndTwin reads every page as a person and as a program: both must
// answer, ".json" must be the same as the Accept header, and the page must obey
// its own content security policy and name no secret.
func TestPageAndTwin(t *testing.T) {
	v := newVisitor(t)
	inline := regexp.MustCompile(`<style|style="|<script>|\son[a-z]+="|javascript:`)
	for path, want := range pagePaths() {
		page := v.html(path)
		if !strings.Contains(page, `data-testid="`+want+`"`) {
			t.Errorf("%s does not show %s", path, want)
		}
		if m := inline.FindString(page); m != "" {
			t.Errorf("%s has %s, which the policy forbids", path, m)
		}
		if strings.Contains(page, testToken) || !strings.Contains(page, "$EDSIGHT_TOKEN") {
			t.Errorf("%s does not leave the token to a variable", path)
		}
		if note := v.part(page, "token-note"); !strings.Contains(note, "$EDSIGHT_TOKEN: in the file of") {
			t.Errorf("%s does not say where the token is: %s", path, note)
		}
		byAccept, bySuffix := v.get(path, "application/json"), v.get(path+".json", "text/html")
		if !json.Valid([]byte(byAccept.body)) || byAccept.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: the twin is not JSON: %.100s", path, byAccept.body)
		}
		if byAccept.body != bySuffix.body {
			t.Errorf("%s: .json differs from Accept: %.200s, %.200s", path, byAccept.body, bySuffix.body)
		}
	}
}

// TestNamesLikeTwins: what has a name that ends in ".json" has a page and a twin,
// and is not taken for the twin of another.
func TestNamesLikeTwins(t *testing.T) {
	v := newVisitor(t)
	for _, host := range []string{"api", "api.json"} {
		v.core.Apply(fmt.Sprintf(`
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: %[1]s, namespace: shop}
spec: {hosts: [%[1]s], ports: [{number: 80, name: http, protocol: HTTP}], resolution: STATIC}
`, host))
	}
	key := model.ServiceKey{Hostname: "api.json", Namespace: "shop"}
	entry := model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindServiceEntry, Namespace: "shop", Name: "api.json"}
	for _, path := range []string{views.ServiceURL(key), views.ConfigURL(entry)} {
		if page := v.get(path, "text/html"); page.StatusCode != http.StatusOK || !strings.Contains(page.body, "<html") || !strings.Contains(page.body, "/api%2Ejson.json") {
			t.Errorf("%s: %d, not a page with the address of its twin: %.200s", path, page.StatusCode, page.body)
		}
	}
	if twin := v.get("/services/shop/api.json.json", "text/html"); !strings.Contains(twin.body, `"api.json"`) {
		t.Errorf("the twin: %d %.200s", twin.StatusCode, twin.body)
	}
	if twin := v.get("/services/shop/api.json", "text/html"); !strings.Contains(twin.body, `"api"`) {
		t.Errorf("the twin of the other: %d %.200s", twin.StatusCode, twin.body)
	}
}

// TestNamesWithEscapes: a name with a slash or a percent sign has a page and a twin
// of its own.
func TestNamesWithEscapes(t *testing.T) {
	v := newVisitor(t)
	for _, host := range []string{"a/b", "50%2Fc", "*.x"} {
		v.core.Apply(fmt.Sprintf(`
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: odd, namespace: shop}
spec: {hosts: [%q], ports: [{number: 80, name: http, protocol: HTTP}], resolution: STATIC}
`, host))
		page := v.html(views.ServiceURL(model.ServiceKey{Hostname: model.Hostname(host), Namespace: "shop"}))
		link := regexp.MustCompile(`href="([^"]*)" data-testid="json"`).FindStringSubmatch(page)
		if link == nil {
			t.Fatalf("%s: no link to the twin", host)
		}
		var m views.Service
		if err := json.Unmarshal([]byte(v.get(link[1], "text/html").body), &m); err != nil || string(m.Host) != host {
			t.Errorf("the twin of %s at %s is of %q, %v", host, link[1], m.Host, err)
		}
	}
}

// TestServicePage shows what became of every address of the slice.
func TestServicePage(t *testing.T) {
	v := newVisitor(t)
	page := v.html(views.ServiceURL(webKey()))
	if got := strings.Count(page, `data-testid="candidate"`); got != 3 {
		t.Errorf("%d candidates are shown, not 3", got)
	}
	for testid, want := range map[string]string{
		"verdict":          "1 of 2 endpoints are ready; 1 candidate is held back.",
		"why-pod-not-seen": "Pod/shop/web-3",
		"slice":            "web-abc12",
		"port":             "1 of 2",
		"shard":            "Kubernetes/Kubernetes",
		"definition":       "app=web",
		"subset-v2":        "✗ none of 2 has these labels",
	} {
		if got := v.part(page, testid); !strings.Contains(got, want) {
			t.Errorf("%s shows %q without %q", testid, got, want)
		}
	}
	if !strings.Contains(page, views.ServiceURL(webKey())+`?only=unready#endpoints" data-testid="show-unready"`) {
		t.Error("the verdict does not lead to the endpoints that are not ready")
	}
	held := v.html(views.ServiceURL(webKey()) + "?only=held")
	if got := strings.Count(held, `data-testid="candidate"`); got != 1 {
		t.Errorf("%d candidates are held back, not 1", got)
	}
	cart := v.html("/services/shop/cart.shop.svc.cluster.local")
	if got := v.part(cart, "verdict"); !strings.Contains(got, `the port name &#34;web&#34;, and the service has &#34;http&#34;: no proxy gets them. Give both ports the same name.`) {
		t.Errorf("the verdict about the port is %.300s", got)
	}
	if got := v.part(cart, "stray-port"); !strings.Contains(got, "“web”") {
		t.Errorf("the port name that no port has is not named: %q", got)
	}
	v.core.Apply(strings.Replace(sliceOfCart, "{name: web, port: 8080,", "{name: b, port: 9090, protocol: TCP}, {name: a, port: 8080,", 1))
	m := twinOf[struct {
		Verdict    string
		Stray      int
		Trouble    []string
		StrayPorts []views.StrayPort
	}](v, "/services/shop/cart.shop.svc.cluster.local")
	if want := `2 endpoints have the port names "a", "b", and the service has "http": no proxy gets them.`; !strings.HasPrefix(m.Verdict, want) || m.Stray != 2 ||
		!slices.Equal(m.Trouble, []string{`2 with the unknown port names "a", "b"`}) || !slices.Equal(m.StrayPorts, []views.StrayPort{{Name: "a", Endpoints: 1}, {Name: "b", Endpoints: 1}}) {
		t.Errorf("of two stray ports it says %q, %q, %v", m.Verdict, m.Trouble, m.StrayPorts)
	}
}

// TestProxyPage shows what a proxy gets and what it does not, with both sides of
// each comparison.
func TestProxyPage(t *testing.T) {
	v := newVisitor(t)
	open := func(cluster string) string { return v.html(views.ClusterURL("web-1.shop", cluster)) }
	page := open("outbound|80||web.shop.svc.cluster.local")
	if got := v.part(page, "sent"); !strings.Contains(got, "10.1.0.1:8080") || strings.Contains(got, "10.1.0.2") {
		t.Errorf("sent is %q", got)
	}
	left := v.part(page, "left-out")
	for _, want := range []string{"why-unhealthy", "why-pod-not-seen", "10.1.0.2:8080", "10.1.0.3:8080"} {
		if !strings.Contains(left, want) {
			t.Errorf("left out is %q without %q", left, want)
		}
	}
	subset := open("outbound|80|v2|web.shop.svc.cluster.local")
	if !strings.Contains(subset, "version=v2 is wanted, the endpoint has v1") {
		t.Error("the labels of the subset and of the endpoint are not held against each other")
	}
	port := open("outbound|80||cart.shop.svc.cluster.local")
	if !strings.Contains(port, "the endpoint has &#34;web&#34;, the service port &#34;http&#34;") {
		t.Error("the port names are not held against each other")
	}
	if a := v.get(views.ClusterURL("web-1.shop", "outbound|81||nowhere"), "text/html"); a.StatusCode != http.StatusNotFound {
		t.Errorf("a cluster that is not there answers %d", a.StatusCode)
	}
}

// TestTransitionPage tells causes, decision and differences of one change.
func TestTransitionPage(t *testing.T) {
	v := newVisitor(t)
	seq := v.core.Apply(terminatingWeb1).Seq
	page := v.html(views.TransitionURL(seq))
	for testid, want := range map[string]string{
		"decision": "incremental", "cause": "web-abc12", "timeline": "published", "triggers": "endpoint",
		"endpoint-change": "terminating", "proxy": "web-1.shop",
	} {
		if got := v.part(page, testid); !strings.Contains(got, want) {
			t.Errorf("%s shows %q without %q", testid, got, want)
		}
	}
	if got := strings.Count(page, `data-testid="endpoint-change"`); got != 3 {
		t.Errorf("%d endpoints changed, not 3", got)
	}
	for _, path := range []string{"/transitions/99", "/transitions/x"} {
		a := v.get(path, "text/html")
		if a.StatusCode != http.StatusNotFound || !strings.Contains(a.body, `data-testid="next-steps"`) {
			t.Errorf("%s answers %d without saying what to do", path, a.StatusCode)
		}
	}
}

// TestSearch finds services by name, address and label, and says where else the
// text is found.
func TestSearch(t *testing.T) {
	v := newVisitor(t)
	for q, want := range map[string][]string{
		"web":             {"web.shop.svc.cluster.local"},
		"WEB.shop":        {"web.shop.svc.cluster.local"},
		"10.96.0.9":       {"web.shop.svc.cluster.local"},
		"10.1.0.3":        {"web.shop.svc.cluster.local"},
		"10.1.0.7:8080":   {"cart.shop.svc.cluster.local"},
		"team=front":      {"web.shop.svc.cluster.local"},
		"app=cart":        {"cart.shop.svc.cluster.local"},
		"team=back":       {},
		"shop/":           {"cart.shop.svc.cluster.local", "web.shop.svc.cluster.local"},
		"no-such-service": {},
	} {
		var m views.Services
		if err := json.Unmarshal([]byte(v.get("/services?q="+url.QueryEscape(q), "application/json").body), &m); err != nil {
			t.Fatal(err)
		}
		if len(m.Services) != len(want) {
			t.Errorf("%s finds %v, not %v", q, m.Services, want)
			continue
		}
		if api := twinOf[pageJSON[serviceJSON]](v, "/api/v1/services?q="+url.QueryEscape(q)); api.Total != len(want) {
			t.Errorf("by the API %s finds %d, not %v", q, api.Total, want)
		}
		for i := range want {
			if m.Services[i].Host != model.Hostname(want[i]) {
				t.Errorf("%s finds %s, not %s", q, m.Services[i].Host, want[i])
			}
		}
	}
	if got := v.part(v.html("/services?q=web-1"), "elsewhere"); !strings.Contains(got, "1 proxy") {
		t.Errorf("a search for a proxy leads to %q", got)
	}
}

// TestBadQueries are answered with words, not with an internal error.
func TestBadQueries(t *testing.T) {
	v := newVisitor(t)
	for _, path := range []string{"/?push=everything", "/?before=x", "/services?page=0", "/services?page=x", "/proxies?page=99999999", "/pushes?before=-1"} {
		if a := v.get(path, "text/html"); a.StatusCode != http.StatusBadRequest || !strings.Contains(a.body, `data-testid="error-message"`) {
			t.Errorf("%s answers %d", path, a.StatusCode)
		}
	}
}

// viewsOfService is what a program reads of the views of a service.
type viewsOfService struct {
	Views     []views.ViewColumn
	MoreViews int
	Slices    []struct {
		Candidates []struct {
			Address  string
			Verdicts []verdictOfView
		}
	}
}

type verdictOfView struct {
	Sent        bool
	Reason, Why string
	Unacked     int
}

// TestServiceViews groups the proxies by what they get, and gives each candidate
// a verdict in each view.
func TestServiceViews(t *testing.T) {
	v := newVisitor(t)
	second := strings.NewReplacer("web-1", "web-2", "10.1.0.1", "10.1.0.9", "n1", "n2").Replace(podShop)
	v.core.Apply("apiVersion: v1\nkind: Node\nmetadata: {name: n2, labels: {topology.kubernetes.io/region: us, topology.kubernetes.io/zone: us-a}}\n---" + second)
	read := func(path string) (m viewsOfService) {
		t.Helper()
		if err := json.Unmarshal([]byte(v.get(path, "application/json").body), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	web := views.ServiceURL(webKey())
	m := read(web)
	if len(m.Views) != 1 || m.Views[0].Name != "sidecars shop" || m.Views[0].Proxies != 2 {
		t.Fatalf("without locality load balancing the views are %+v", m.Views)
	}
	var got []string
	for _, c := range m.Slices[0].Candidates {
		got = append(got, c.Address+" "+c.Verdicts[0].Reason)
	}
	want := []string{"10.1.0.1:8080 ", "10.1.0.2:8080 unhealthy", "10.1.0.3:8080 pod-not-seen"}
	if !slices.Equal(got, want) {
		t.Errorf("the verdicts are %v, not %v", got, want)
	}
	v.core.Apply(localRule)
	m = read(web)
	if len(m.Views) != 2 {
		t.Fatalf("with outlier detection the views are %+v", m.Views)
	}
	for _, view := range m.Views {
		if view.Proxies != 1 || !strings.HasPrefix(view.Name, "web-") {
			t.Errorf("a view of one proxy is %+v", view)
		}
	}
	cart := read("/services/shop/cart.shop.svc.cluster.local")
	if r := cart.Slices[0].Candidates[0].Verdicts[0].Reason; r != "port-name-mismatch" {
		t.Errorf("the endpoint with another port name has %s", r)
	}
}

const localRule = `
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: web, namespace: shop}
spec: {host: web.shop.svc.cluster.local, trafficPolicy: {outlierDetection: {consecutive5xxErrors: 5}}}
`
