package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/views"
)

// TestObjectPage shows objects of all kinds as they were read, and where they lead.
func TestObjectPage(t *testing.T) {
	core := coretest.New(t)
	core.Apply(shop + "\n---\n" + brokenMesh)
	core.Apply(strings.Replace(terminatingWeb1, "10.1.0.1]", "10.1.0.1, 10.1.0.9]", 1))
	v := &visitor{newTestServer(t, core, Options{Token: testToken, Objects: core.Store}), t, core}
	web := views.ServiceURL(webKey())
	for path, want := range map[string][]string{
		"/config/Service/shop/web":             {"targetPort: 8080", web},
		"/config/EndpointSlice/shop/web-abc12": {"- 10.1.0.9", web, "incremental"},
		"/config/Pod/shop/web-1":               {"serviceAccountName: web", views.ProxyURL("web-1.shop"), views.TraceURL("10.1.0.1")},
		"/config/DestinationRule/shop/web":     {"host: web.shop.svc.cluster.local"},
	} {
		page := v.html(path)
		for _, w := range want {
			if !strings.Contains(page, strings.ReplaceAll(w, "&", "&amp;")) {
				t.Errorf("%s does not show %s", path, w)
			}
		}
	}
	page := v.html("/config/EndpointSlice/shop/cart-abc12")
	if !strings.Contains(v.part(page, "findings"), "give both ports the same name") {
		t.Error("the page of a slice does not show what is wrong with it")
	}
	last := 0
	for _, field := range []string{"apiVersion:", "kind:", "metadata:", "addressType:", "ports:", "endpoints:"} {
		i := strings.Index(page[last:], field)
		if i < 0 {
			t.Errorf("%s does not come in its order", field)
		}
		last += max(i, 0)
	}
	for _, path := range []string{"/config/Pod/shop/web-3", "/config/ConfigMap/istio-system/istio", "/config/Secret/shop/a", "/config/Service/shop/web?cluster=west"} {
		if a := v.get(path, "text/html"); a.StatusCode != http.StatusNotFound {
			t.Errorf("%s answers %d", path, a.StatusCode)
		}
	}
	core.Apply(strings.Replace(podShop, "apiVersion", "$op: delete\napiVersion", 1))
	if a := v.get("/config/Pod/shop/web-1", "text/html"); a.StatusCode != http.StatusNotFound || !strings.Contains(a.body, "it went at") {
		t.Errorf("the deleted Pod answers %d", a.StatusCode)
	}
}

// TestLongSlice shows few endpoints of a slice with many: first those with which
// something is the matter. Its JSON has all.
func TestLongSlice(t *testing.T) {
	core := coretest.New(t)
	var b strings.Builder
	slice := func(name string) string {
		return "---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: " + name + ", namespace: shop, labels: {kubernetes.io/service-name: many}}\n" +
			"addressType: IPv4\nports: [{name: http, port: 80}]\nendpoints:\n"
	}
	b.WriteString("apiVersion: v1\nkind: Service\nmetadata: {name: many, namespace: shop}\nspec: {clusterIP: 10.2.0.1, ports: [{name: http, port: 80}]}\n" +
		slice("many-0") + "- addresses: [10.3.0.230]\n" + slice("many-1"))
	const n = 250
	for i := range n {
		fmt.Fprintf(&b, "- {addresses: [10.3.0.%d], conditions: {ready: %t}", i, i != 200)
		if i == 240 {
			b.WriteString(", targetRef: {kind: Pod, namespace: shop, name: gone}")
		}
		b.WriteString("}\n")
	}
	core.Apply(b.String())
	v := &visitor{newTestServer(t, core, Options{Token: testToken, Objects: core.Store}), t, core}
	const path = "/config/EndpointSlice/shop/many-1"
	page := v.html(path)
	yaml := v.part(page, "object-yaml")
	if got := strings.Count(yaml, "- addresses:"); got != shownEndpoints {
		t.Errorf("the page shows %d endpoints", got)
	}
	first := 0
	for _, address := range []string{"10.3.0.200", "10.3.0.230", "10.3.0.240", "10.3.0.0", "10.3.0.96"} {
		i := strings.Index(yaml[first:], "- "+address+"\n")
		if i < 0 {
			t.Errorf("%s does not come in its order", address)
		}
		first += max(i, 0)
	}
	if !strings.Contains(v.part(page, "endpoints-folded"), "250 endpoints") {
		t.Error("the page does not say how many endpoints there are")
	}
	if got := strings.Count(v.get(path+".json", "application/json").body, `"addresses":`); got != n {
		t.Errorf("the JSON has %d endpoints", got)
	}
}

// TestBrokenObject: a problem with an object that cannot be read leads to a page
// that says so.
func TestBrokenObject(t *testing.T) {
	core := newFakeCore()
	core.status.Source.Problems = []source.Problem{{
		Object: model.ObjectKey{Kind: model.KindSidecar, Namespace: "shop", Name: "broken"}, Where: "a.yaml:3", Message: "is no object",
	}}
	v := &visitor{newTestServer(t, core, Options{Token: testToken}), t, nil}
	page := v.html("/config/Sidecar/shop/broken")
	if !strings.Contains(v.part(page, "problems"), "is no object") || !strings.Contains(v.part(page, "object-missing"), "cannot be read") {
		t.Error("the page does not say what is wrong")
	}
	// Without objects a slice that the state knows has a page, and another has not.
	if page := v.html("/config/EndpointSlice/shop/web-1"); !strings.Contains(page, "an exported state keeps the objects of Istio only") {
		t.Error("the page of a slice does not say why it is empty")
	}
	if a := v.get("/config/EndpointSlice/shop/web-9", "text/html"); a.StatusCode != http.StatusNotFound {
		t.Errorf("a slice that nobody knows answers %d", a.StatusCode)
	}
}
