package server

import (
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/source"
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

// TestWrongCounts: what is wrong is counted when something has changed, and in a large
// mesh beside, from time to time.
func TestWrongCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core := newFakeCore()
		s := New(core, Options{})
		count := func() int {
			m := s.wrongCounts(core.snap)
			return m.Total()
		}
		problem := func() {
			core.status.Source.Problems = append(core.status.Source.Problems, source.Problem{Message: "is wrong"})
		}
		first, last := count(), s.counting.last
		if count(); s.counting.last != last {
			t.Error("the same is counted twice")
		}
		problem()
		if n := count(); n != first+1 {
			t.Errorf("%d are wrong, not %d", n, first+1)
		}
		s.counting.took = time.Hour // it is a large mesh
		problem()
		if n := count(); n != first+1 || s.counting.busy {
			t.Errorf("%d are wrong, busy %t: it is too early to count again", n, s.counting.busy)
		}
		s.counting.began = s.counting.began.Add(-2 * countShare * time.Hour)
		if n := count(); n != first+1 {
			t.Errorf("%d are wrong: the page has waited", n)
		}
		synctest.Wait()
		if n := count(); n != first+2 {
			t.Errorf("%d are wrong, not %d", n, first+2)
		}
	})
}

// TestNothingWrong says so, and the live page then says nothing.
func TestNothingWrong(t *testing.T) {
	v := &visitor{newTestServer(t, coretest.New(t), Options{Token: testToken}), t, nil}
	v.part(v.html("/wrong"), "nothing-wrong")
	if page := v.html("/"); strings.Contains(page, `data-testid="wrong"`) || strings.Contains(page, "badge bad") {
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
	for address, want := range map[string]string{
		"10.1.0.1":   "1 of 1 proxy has it for web.shop.svc.cluster.local:80.",
		"10.1.0.2":   "EndpointSlice/shop/web-abc12 has it as unhealthy. 0 of 1 proxy has it for web.shop.svc.cluster.local:80.",
		"10.1.0.7":   `0 of 1 proxy has it for cart.shop.svc.cluster.local:80: EndpointSlice shop/cart-abc12 offers 10.1.0.7 with the port name "web" at 8080, and port 80 of Service shop/cart is named "http": endpoints are matched by port name.`,
		"10.1.0.250": "No slice and no other object lists it.",
	} {
		if got := twinOf[views.Explain](v, views.TraceURL(address)).Trace; got.Sentence != want || got.Well != (address == "10.1.0.1") {
			t.Errorf("of %s it says %q, and that it is well: %t", address, got.Sentence, got.Well)
		}
	}
	v.core.Apply(strings.ReplaceAll(ruleWithV1, "version: v1", "version: v7"))
	m = twinOf[views.Explain](v, views.TraceURL("10.1.0.1"))
	want := "It is in no subset of web.shop.svc.cluster.local; DestinationRule/shop/other has v1; DestinationRule/shop/web has v2. No route to a subset leads to it: label it as one of them wants, or add one. 1 of 1 proxy has it for web.shop.svc.cluster.local:80."
	if m.Trace.Sentence != want || m.Trace.Well {
		t.Errorf("the sentence is %q", m.Trace.Sentence)
	}
}

// TestTraceHeadless: that no proxy has a Pod of a headless Service by EDS is as it
// should be.
func TestTraceHeadless(t *testing.T) {
	v := newVisitor(t)
	v.core.Apply("apiVersion: v1\nkind: Service\nmetadata: {name: db, namespace: shop}\nspec: {clusterIP: None, ports: [{name: tcp, port: 5432}]}\n---\n" +
		strings.NewReplacer("cart", "db", "name: web", "name: tcp", "10.1.0.7", "10.1.0.70").Replace(sliceOfCart))
	got := twinOf[views.Explain](v, views.TraceURL("10.1.0.70")).Trace
	if !got.Well || !strings.HasPrefix(got.Sentence, "0 of 1 proxy has it for db.shop.svc.cluster.local:5432: Service shop/db is headless") {
		t.Errorf("it says %q, and that it is well: %t", got.Sentence, got.Well)
	}
}

// TestTraceSpelling: an address is the same however it is written.
func TestTraceSpelling(t *testing.T) {
	v := newVisitor(t)
	six := strings.NewReplacer("IPv4", "IPv6", "10.1.0.7", "2001:db8::7")
	v.core.Apply(ruleWithV1 + "---\n" + six.Replace(sliceOfCart) + "\n---\napiVersion: networking.istio.io/v1\nkind: DestinationRule\n" +
		"metadata: {name: cart, namespace: shop}\nspec: {host: cart, subsets: [{name: all}]}\n")
	for text, address := range map[string]string{
		"10.1.0.1:8080": "10.1.0.1", " 10.1.0.1 ": "10.1.0.1", "2001:DB8:0::7": "2001:db8::7", "[2001:db8::0:7]:8080": "2001:db8::7",
	} {
		m := twinOf[views.Explain](v, views.TraceURL(text)).Trace
		if m.Address != address || len(m.Offers) != 1 || len(m.Offers[0].InSubsets) == 0 || !m.Offers[0].InSubsets[0].Has {
			t.Errorf("%q is %+v", text, m)
		}
		if n := len(twinOf[views.Live](v, "/?address="+url.QueryEscape(text)).Feed.Rows); n == 0 {
			t.Errorf("there is no transition of %q", text)
		}
		if n := len(twinOf[views.Services](v, "/services?q="+url.QueryEscape(text)).Services); n != 1 {
			t.Errorf("%q is of %d services", text, n)
		}
	}
}

const ruleWithV1 = `apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: other, namespace: shop}
spec: {host: web, subsets: [{name: v1, labels: {version: v1}}]}
`

// TestJoinHolders makes one row of proxies of which the same is said.
func TestJoinHolders(t *testing.T) {
	tr := views.Trace{Offers: []views.Offer{{Admitted: true, Health: "healthy"}}, Holders: []views.Holder{
		{Proxies: []string{"a"}, Count: 3, Host: "web", Port: 80, Present: true, Why: "priority 0"},
		{Proxies: []string{"b"}, Count: 1, Host: "web", Port: 80, Why: "out of scope"},
		{Proxies: []string{"c"}, Count: 2, Host: "web", Port: 80, Present: true, Why: "priority 0"},
		{Proxies: []string{"d"}, Count: 1, Host: "web", Port: 81, Present: true, Why: "priority 0"},
	}}
	judge(&tr, "")
	if want := "5 of 6 proxies have it for web:80. 1 of 1 proxy has it for web:81."; tr.Sentence != want || !tr.Well {
		t.Errorf("the sentence is %q", tr.Sentence)
	}
	if len(tr.Holders) != 3 || tr.Holders[0].Present || tr.Holders[1].Count != 5 || len(tr.Holders[1].Proxies) != 2 || tr.Holders[2].Port != 81 {
		t.Errorf("the holders are %+v", tr.Holders)
	}
	tr.MoreOffers, tr.Unlisted = 1, 3
	if judge(&tr, ""); !strings.HasSuffix(tr.Sentence, " 1 further listing of it is not shown. 3 further answers are not counted here: too many groups of proxies differ.") {
		t.Errorf("of what is not listed one says %q", tr.Sentence)
	}
}
