package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	xds "github.com/edsight/edsight/core/session"
	"github.com/edsight/edsight/views"
)

const (
	urlCDS = "type.googleapis.com/envoy.config.cluster.v3.Cluster"
	urlEDS = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"
	urlLDS = "type.googleapis.com/envoy.config.listener.v3.Listener"
)

// web1 is the session of web-1.shop: clusters acknowledged, endpoints sent and
// not acknowledged, listeners rejected.
func web1() xds.Session {
	at := time.Now().Add(-3 * time.Minute)
	return xds.Session{
		ID: "web-1.shop-7", Proxy: "web-1.shop", Address: "10.1.0.1:40000", ConnectedAt: at, Delta: true,
		Node: xds.Node{Pod: model.ObjectKey{Kind: model.KindPod, Namespace: "shop", Name: "web-1"}, EnvoyVersion: "1.36.2"},
		Types: []xds.Type{
			{URL: urlCDS, Wildcard: true, Sent: xds.Message{Version: "v7", Nonce: "c1", Time: at}, Acked: xds.Message{Version: "v7", Nonce: "c1", Time: at}},
			{URL: urlEDS, Names: 3, Sent: xds.Message{Version: "v9", Nonce: "e2", Time: at}, Acked: xds.Message{Version: "v8", Nonce: "e1", Time: at}},
			{URL: urlLDS, Sent: xds.Message{Nonce: "l1", Time: at}, Error: "no such <filter>", ErrorAt: at},
		},
	}
}

// newCrowdedVisitor has web-1 connected, web-2 expected, and a client that is no
// Pod.
func newCrowdedVisitor(t *testing.T) *visitor {
	t.Helper()
	core := coretest.New(t)
	core.Apply(shop + "\n---\n" + strings.NewReplacer("web-1", "web-2", "10.1.0.1", "10.1.0.9").Replace(podShop))
	stranger := xds.Session{ID: "vm.shop-8", Proxy: "vm.shop", Address: "10.9.0.9:1", Node: xds.Node{Pod: model.ObjectKey{Namespace: "shop", Name: "vm"}}}
	c := &fakeProxies{list: []xds.Session{web1(), stranger}}
	return &visitor{newTestServer(t, core, Options{Token: testToken, Proxies: c}), t, core}
}

// TestProxiesPage tells who is connected, who should be, and what each has
// acknowledged.
func TestProxiesPage(t *testing.T) {
	v := newCrowdedVisitor(t)
	page := v.html("/proxies")
	for testid, want := range map[string][]string{
		"proxies-count": {"1 connected", "1 expected and not connected", "1 with something un-acked", "1 rejected something"},
		"proxies":       {"● connected", "○ expected, not connected", "CDS", "✓ acked", "◐ sent", "✗ rejected", "3 min ago"},
		"strangers":     {"vm.shop-8", "10.9.0.9:1"},
	} {
		got := v.part(page, testid)
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s shows %q without %q", testid, got, w)
			}
		}
	}
	for only, want := range map[string]string{"connected": "web-1.shop", "missing": "web-2.shop", "unacked": "web-1.shop", "rejected": "web-1.shop"} {
		got := v.html("/proxies?only=" + only)
		if n := strings.Count(got, `data-testid="proxy"`); n != 1 || !strings.Contains(v.part(got, "proxy"), want) {
			t.Errorf("%s shows %d proxies, not %s alone", only, n, want)
		}
	}
	if got := newVisitor(t).html("/proxies"); !strings.Contains(got, "modelled") || strings.Contains(got, "expected") {
		t.Error("where no proxy is connected, one is expected to be")
	}
}

// TestSession shows per type what was sent to one proxy and what came back.
func TestSession(t *testing.T) {
	v := newCrowdedVisitor(t)
	page := v.html(views.ProxyURL("web-1.shop"))
	got := v.part(page, "session")
	for _, want := range []string{"web-1.shop-7", "incremental", "Envoy 1.36.2"} {
		if !strings.Contains(got, want) {
			t.Errorf("the session is %q without %q", got, want)
		}
	}
	types := v.part(page, "session-types")
	for _, want := range []string{"everything", "3 names", "v9", "e2", "an older one", "no such &lt;filter&gt;", "✓ acked", "◐ sent"} {
		if !strings.Contains(types, want) {
			t.Errorf("the types are %q without %q", types, want)
		}
	}
	if strings.Contains(v.html(views.ProxyURL("web-2.shop")), `data-testid="session"`) {
		t.Error("a proxy that is not connected has a session")
	}
}

// TestDelivery follows a transition on its way to three proxies, on the feed, on
// its own page and in the stations.
func TestDelivery(t *testing.T) {
	v := newCrowdedVisitor(t)
	step := v.core.Apply(terminatingWeb1)
	d, at := v.core.Journal().Delivery(step.Seq), step.Times.Published
	d.Affects(4)
	d.Sent(at.Add(time.Millisecond))
	d.Sent(at.Add(time.Millisecond))
	d.Unchanged(at)
	live := v.html("/")
	if got := v.part(live, "delivery"); !strings.Contains(got, "0/4 acked") || !strings.Contains(got, "3 waiting") || !strings.Contains(got, "1 had it") {
		t.Errorf("the row says %q", got)
	}
	if got, _, _ := strings.Cut(v.part(live, "station-sent"), "</li>"); !strings.Contains(got, "2 of 4") || strings.Contains(got, "modelled") {
		t.Errorf("the station says %q", got)
	}
	for age, want := range map[time.Duration]string{0: "0 · 3 on their way", 2 * lateAfter: "0 · 3 late"} {
		counts := d.Counts()
		if got := ackedValue(&counts, counts.FirstSent.Add(age)); got != want {
			t.Errorf("after %s the station says %q, not %q", age, got, want)
		}
	}
	d.Acked(at.Add(2 * time.Millisecond))
	d.Rejected(journal.Rejection{Proxy: "web-1.shop", Type: urlEDS, Message: "bad <endpoint>", Time: at.Add(3 * time.Millisecond)})
	d.Left(at.Add(5*time.Millisecond), false)
	live = v.html("/")
	if got := v.part(live, "delivery"); !strings.Contains(got, "1/4 acked") || !strings.Contains(got, "✗ 1 rejected") || strings.Contains(got, "waiting") {
		t.Errorf("the row says %q", got)
	}
	if got := v.part(live, "station-acked"); !strings.Contains(got, "✗ 1 rejected") || !strings.Contains(got, "p50") {
		t.Errorf("the station says %q", got)
	}
	page := v.html(views.TransitionURL(step.Seq))
	for testid, want := range map[string]string{"rejection": "bad &lt;endpoint&gt;", "timeline": "all answered", "delivery": "needed no message"} {
		if got := v.part(page, testid); !strings.Contains(got, want) {
			t.Errorf("%s shows %q without %q", testid, got, want)
		}
	}
}

// TestLiveFrame has the rows whose delivery has just moved, and those alone.
func TestLiveFrame(t *testing.T) {
	v := newCrowdedVisitor(t)
	step := v.core.Apply(terminatingWeb1)
	v.core.Journal().Delivery(step.Seq).Affects(1)
	s := New(v.core, Options{})
	frame, err := render(t.Context(), views.LiveFrame(views.Moving{Rows: s.moving(step.Times.Published)}, step.Times.Published))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(frame); strings.Count(got, `id="delivery-`) != 1 || !strings.Contains(got, fmt.Sprintf(`id="delivery-%d"`, step.Seq)) {
		t.Errorf("the frame is %q", got)
	}
	v.core.Journal().Delivery(step.Seq).Unchanged(step.Times.Published)
	if rows := s.moving(step.Times.Published.Add(2 * deliveryFor)); len(rows) != 0 {
		t.Errorf("a delivery that ended long ago still moves: %+v", rows)
	}
}
