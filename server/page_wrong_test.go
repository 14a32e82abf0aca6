package server

import (
	"strings"
	"testing"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/views"
)

// TestWrongPage shows in one place what the pages of services, slices and
// configuration find, and how much of it on the live page.
func TestWrongPage(t *testing.T) {
	v := newVisitor(t)
	m := twinOf[views.Wrong](v, "/wrong")
	if m.ServiceCount != 2 || len(m.Services) != 2 || m.FindingCount != 2 || len(m.Findings) != 2 || len(m.Problems) != 1 {
		t.Fatalf("it shows %+v", m)
	}
	all := twinOf[views.Services](v, "/services?only=trouble")
	for i, s := range m.Services {
		if s.Host != all.Services[i].Host || strings.Join(s.Trouble, "; ") != strings.Join(all.Services[i].Trouble, "; ") {
			t.Errorf("it shows %v, and the services %v", s, all.Services[i])
		}
	}
	page := v.html("/wrong")
	for _, part := range []string{"services", "findings", "problems", "partial"} {
		v.part(page, part)
	}
	const want = "2 services in trouble</a> <a href=\"/wrong#slices\">✗ 2 findings about slices</a> <a href=\"/wrong#problems\">✗ 1 problem with"
	if got := v.part(v.html("/"), "wrong"); !strings.Contains(got, want) {
		t.Errorf("the live page says %.600s", got)
	}
}

// TestNothingWrong says so, and the live page then says nothing.
func TestNothingWrong(t *testing.T) {
	v := &visitor{newTestServer(t, coretest.New(t), Options{Token: testToken}), t, nil}
	v.part(v.html("/wrong"), "nothing-wrong")
	if strings.Contains(v.html("/"), `data-testid="wrong"`) {
		t.Error("the live page says that something is wrong")
	}
}

// TestTraceSubsets says of an address in which subsets of its service it is.
func TestTraceSubsets(t *testing.T) {
	v := newVisitor(t)
	v.core.Apply(ruleWithV1)
	m := twinOf[views.Explain](v, views.TraceURL("10.1.0.1"))
	got := ""
	for _, x := range m.Trace.Offers[0].InSubsets {
		got += x.Rule.Name + "/" + x.Name
		if x.Has {
			got += " ✓"
		}
		got += "; "
	}
	if got != "other/v1 ✓; web/v2; " {
		t.Errorf("the address is in %s", got)
	}
	if page := v.part(v.html(views.TraceURL("10.1.0.1")), "offers"); !strings.Contains(page, "not in</span> subset v2") {
		t.Errorf("the page says %.900s", page)
	}
}

const ruleWithV1 = `apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: other, namespace: shop}
spec: {host: web, subsets: [{name: v1, labels: {version: v1}}]}
`
