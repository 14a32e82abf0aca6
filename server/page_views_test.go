package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	xds "github.com/edsight/edsight/core/session"
	"github.com/edsight/edsight/views"
)

// nodeMesh is a mesh whose service has an endpoint on each of two nodes, and is
// local to nodes; six proxies are on n1, one each on others.
func nodeMesh() string {
	var b strings.Builder
	b.WriteString(`
apiVersion: v1
kind: Service
metadata: {name: dns, namespace: shop}
spec: {clusterIP: 10.96.0.7, internalTrafficPolicy: Local, selector: {app: dns}, ports: [{name: http, port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: dns-a, namespace: shop, labels: {kubernetes.io/service-name: dns}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints:
- {addresses: [10.3.0.1], targetRef: {kind: Pod, name: p-0, namespace: shop}}
- {addresses: [10.3.0.7], targetRef: {kind: Pod, name: p-7, namespace: shop}}
`)
	for i := range 14 {
		node := "n1"
		if i > 5 {
			node = fmt.Sprintf("m%d", i)
		}
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p-%d, namespace: shop}\nspec: {nodeName: %s, containers: [{name: istio-proxy}]}\n"+
			"status: {phase: Running, podIP: 10.3.0.%d, podIPs: [{ip: 10.3.0.%d}]}\n", i, node, i+1, i+1)
	}
	return b.String()
}

// TestOddViews: a group that gets other endpoints than the largest has a column
// before all others, however small; the rest is behind a link.
func TestOddViews(t *testing.T) {
	core := coretest.New(t)
	core.Apply(nodeMesh())
	v := &visitor{newTestServer(t, core, Options{Token: testToken}), t, core}
	dns := views.ServiceURL(model.ServiceKey{Hostname: "dns.shop.svc.cluster.local", Namespace: "shop"})
	m := twinOf[viewsOfService](v, dns)
	last := m.Views[len(m.Views)-1]
	if len(m.Views) != 9 || last.Proxies != 6 || last.Odd || !m.Views[0].Odd || m.Views[0].Proxies != 1 || m.MoreViews != 0 {
		t.Fatalf("the views are %+v and %d more", m.Views, m.MoreViews)
	}
	core.Apply(strings.ReplaceAll(strings.Join(strings.Split(nodeMesh(), "---")[2:], "---"), "p-", "q-"))
	m = twinOf[viewsOfService](v, dns)
	if len(m.Views) != 9 || m.Views[8].Proxies != 12 || m.MoreViews != 0 {
		t.Errorf("with twice the proxies the views are %+v and %d more", m.Views, m.MoreViews)
	}
	page := v.html(dns + "?only=differs")
	if got := strings.Count(page, `data-testid="candidate"`); got != 2 || !strings.Contains(page, "≠ other endpoints") {
		t.Errorf("%d candidates differ, not 2", got)
	}
	core.Apply(shop)
	if got := strings.Count(v.html(views.ServiceURL(webKey())+"?only=differs"), `data-testid="candidate"`); got != 0 {
		t.Errorf("%d candidates differ where all have the same view", got)
	}
}

// TestArrange keeps the largest group and what is odd, up to a bound.
func TestArrange(t *testing.T) {
	group := func(size int, sent ...bool) *viewGroup {
		a := &eds.Assignment{}
		for _, s := range sent {
			reason := model.ReasonUnhealthy
			if s {
				reason = model.ReasonNone
			}
			a.Reasons = append(a.Reasons, reason)
		}
		return &viewGroup{members: make([]*model.Proxy, size), assigned: map[string]*eds.Assignment{"http": a}}
	}
	sizes := func(groups []*viewGroup) (out string) {
		for _, g := range groups {
			out += fmt.Sprintf(" %d", len(g.members))
			if g.odd {
				out += "≠"
			}
		}
		return strings.TrimSpace(out)
	}
	var many []*viewGroup
	for i := range 40 {
		many = append(many, group(i+1, i%2 == 0))
	}
	for name, c := range map[string]struct {
		groups     []*viewGroup
		everything bool
		want       string
	}{
		"none":       {nil, false, ""},
		"equal":      {[]*viewGroup{group(1, true), group(3, true), group(2, true)}, false, "3 2 1"},
		"odd first":  {[]*viewGroup{group(9, true), group(1, false), group(8, true), group(2, false)}, false, "1≠ 2≠ 9 8"},
		"many":       {many, false, "1≠ 3≠ 5≠ 7≠ 9≠ 11≠ 13≠ 15≠ 17≠ 19≠ 40 38 36 34 32 30 28 26 24 22 20"},
		"other port": {[]*viewGroup{group(2, true), {members: make([]*model.Proxy, 1)}}, false, "1≠ 2"},
	} {
		if got := sizes(arrange(c.groups, c.everything)); got != c.want {
			t.Errorf("%s: %s, not %s", name, got, c.want)
		}
	}
	if got := len(arrange(many, true)); got != 40 {
		t.Errorf("of 40 groups %d are shown when all are asked for", got)
	}
}

// TestUnacked marks what changed since a proxy acknowledged last, and that alone.
func TestUnacked(t *testing.T) {
	core := coretest.New(t)
	core.Apply(shop)
	acked := core.Snapshot().Version
	core.Apply(terminatingWeb1)
	session := web1()
	session.Types[1].Acked.Version = fmt.Sprint(acked)
	proxies := &fakeProxies{list: []xds.Session{session}}
	v := &visitor{newTestServer(t, core, Options{Token: testToken, Proxies: proxies}), t, core}
	web := views.ServiceURL(webKey())
	cell := func(path string) verdictOfView {
		return twinOf[viewsOfService](v, path).Slices[0].Candidates[0].Verdicts[0]
	}
	if got := cell(web); got.Unacked != 1 || got.Sent || got.Why != "the endpoint is terminating" {
		t.Errorf("the withdrawn endpoint is %+v", got)
	}
	if got := cell("/services/shop/cart.shop.svc.cluster.local"); got.Unacked != 0 {
		t.Errorf("an endpoint that has not changed is %+v", got)
	}
	page := v.html(web)
	if !strings.Contains(v.part(page, "unacked"), "1 not acked") || !strings.Contains(v.part(page, "view-late"), "1 owes an answer") {
		t.Error("the page does not say who owes an answer")
	}
	core.Apply(localRule)
	if got := cell("/services/shop/cart.shop.svc.cluster.local"); got.Unacked != 1 {
		t.Errorf("after the configuration changed an endpoint is %+v", got)
	}
	proxies.list[0].Types[1].Error = "no"
	if !strings.Contains(v.html(web), `data-testid="view-rejected"`) {
		t.Error("the page does not say who rejected")
	}
	proxies.list[0].Types[1].Error, proxies.list[0].Types[1].Acked = "", proxies.list[0].Types[1].Sent
	if got := cell(web); got.Unacked != 0 {
		t.Errorf("when all is acknowledged the endpoint is %+v", got)
	}
}
