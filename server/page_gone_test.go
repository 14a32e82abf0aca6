package server

import (
	"bytes"
	"context"
	"encoding/json"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/edsight/edsight/views"
)

// TestLeft: that a caller has left is no error of the server.
func TestLeft(t *testing.T) {
	for _, path := range []string{"/services", "/nothing", "/wrong"} {
		var log bytes.Buffer
		s := New(newFakeCore(), Options{Token: testToken, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		r := getRequest(t, path)
		bearer(r)
		r.Header.Set("Accept", "text/html")
		ctx, leave := context.WithCancel(r.Context())
		leave()
		serve(s, r.WithContext(ctx))
		if log.Len() > 0 {
			t.Errorf("%s: the log says %s", path, &log)
		}
	}
}

// TestGone: who asks for what is not there is told when it went, and what has a
// name like it.
func TestGone(t *testing.T) {
	v := newVisitor(t)
	v.core.Apply(strings.NewReplacer("web-1", "web-2", "10.1.0.1", "10.1.0.2").Replace(podShop))
	gone := v.core.Apply(strings.Replace(podShop, "apiVersion", "$op: delete\napiVersion", 1)).Seq
	var e httpError
	answer := v.get(views.ProxyURL("web-1.shop"), "application/json")
	if err := json.Unmarshal([]byte(answer.body), &e); err != nil || answer.StatusCode != http.StatusNotFound {
		t.Fatalf("%d %v", answer.StatusCode, err)
	}
	if !strings.Contains(e.Message, "no proxy web-1.shop; it went at ") {
		t.Errorf("the message is %q", e.Message)
	}
	want := []views.Link{{Href: views.TransitionURL(gone)}, {Href: views.ProxyURL("web-2.shop")}}
	for i, l := range want {
		if i >= len(e.Next) || e.Next[i].Href != l.Href {
			t.Fatalf("it leads to %+v, not to %+v", e.Next, want)
		}
	}
	question := "explain?proxy=web-1.shop&host=web.shop.svc.cluster.local&port=80"
	if page := v.get("/"+question, "text/html"); page.StatusCode != http.StatusNotFound || !strings.Contains(page.body, "it went at") || !strings.Contains(page.body, views.TransitionURL(gone)) {
		t.Errorf("the explanation of a proxy that went is %d: %s", page.StatusCode, page.body)
	}
	wrong := "/explain?proxy=web&host=web.shop.svc.cluster.local&port=80&subset=v2&address=10.1.0.9"
	page := v.get(wrong, "text/html")
	form := v.part(page.body, "explain-form")
	for _, typed := range []string{"web", "web.shop.svc.cluster.local", "80", "v2", "10.1.0.9"} {
		if !strings.Contains(form, `value="`+typed+`"`) {
			t.Errorf("the form does not have %s: %s", typed, form)
		}
	}
	if link := template.HTMLEscapeString(views.ExplainURL("web-2.shop", "web.shop.svc.cluster.local", 80, "v2", "10.1.0.9")); page.StatusCode != http.StatusNotFound || !strings.Contains(page.body, link) {
		t.Errorf("the page of an unknown proxy is %d and does not lead to %s: %s", page.StatusCode, link, v.part(page.body, "next-steps"))
	}
	for host, want := range map[string]string{"wed.shop.svc.cluster.local": "web.shop.svc.cluster.local", "web.shpo.svc.cluster.local": "web.shop.svc.cluster.local", "web": "web.shop.svc.cluster.local", "zzzz.shop": ""} {
		m := twinOf[views.Explain](v, "/explain?proxy=web-2.shop&port=80&host="+host)
		got := ""
		for _, l := range m.Links {
			if strings.HasPrefix(l.Text, "Did you mean") {
				got += l.Href
			}
		}
		if (want == "") != (got == "") || (want != "" && !strings.Contains(got, views.ExplainURL("web-2.shop", want, 80, "", ""))) {
			t.Errorf("for %s the page leads to %q", host, got)
		}
	}
	if a := v.get(apiPrefix+question, "application/json"); a.StatusCode != http.StatusNotFound || !strings.Contains(a.body, "it went at") {
		t.Errorf("to programs it is %d: %s", a.StatusCode, a.body)
	}
	for path, link := range map[string]string{
		"/services/shop/wed.shop.svc.cluster.local":  views.ServiceURL(webKey()),
		"/services/shpo/web.shop.svc.cluster.local":  views.ServiceURL(webKey()),
		"/services/shop/zzzz.shop.svc.cluster.local": "",
	} {
		page := v.get(path, "text/html")
		if page.StatusCode != http.StatusNotFound || strings.Contains(page.body, "Did you mean") != (link != "") || !strings.Contains(page.body, link) {
			t.Errorf("%s answers %d and does not lead to %q alone", path, page.StatusCode, link)
		}
	}
}
