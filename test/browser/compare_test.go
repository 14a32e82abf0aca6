package browser

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/edsight/edsight/core/archive"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// compared is the proxy of the comparisons.
const compared = "web-7d4b9c-0.shop"

// change makes a second state: a Pod of the web becomes ready to serve, one leaves,
// the cart gets the right port name, and a proxy comes.
func (s *site) change(t *testing.T) {
	t.Helper()
	seq := s.core.Journal().Last() + 1
	slice := s.slice("shop", "web", "http", 4)
	slice.Endpoints[0].Conditions.Ready = new(false)
	s.put("EndpointSlice", slice)
	s.put("EndpointSlice", s.slice("shop", "cart", "http", 3))
	s.pod("shop", "payments", 3, nil)
	for ; s.core.Snapshot().Proxy("payments-7d4b9c-3.shop") == nil; seq++ { // the last of these
		if err := s.core.Journal().Wait(t.Context(), seq); err != nil {
			t.Fatal(err)
		}
	}
}

// export is an archive of a state.
func export(t *testing.T, snap *state.Snapshot) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := archive.Write(&b, &archive.Content{Header: archive.Header{Created: time.Now().Add(-time.Hour)}, Snapshot: snap}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// openSnapshot gives a file to the form of the page of snapshots.
func (b *tab) openSnapshot(name string, content []byte) {
	b.t.Helper()
	b.visit("/snapshots")
	eval[bool](b, fmt.Sprintf(`(() => {
		const files = new DataTransfer()
		files.items.add(new File([Uint8Array.from(atob(%s), (c) => c.charCodeAt(0))], %s))
		const form = document.querySelector(%s)
		form.querySelector("input[type=file]").files = files.files
		form.requestSubmit()
		return true
	})()`, quote(base64.StdEncoding.EncodeToString(content)), quote(name), quote(id("open-snapshot"))))
	b.do(chromedp.WaitVisible(id("verdict")))
}

// paste gives a text to the form of a comparison.
func (b *tab) paste(proxy, text, wait string) {
	b.t.Helper()
	b.visit(views.CompareURL(proxy))
	eval[bool](b, fmt.Sprintf(`(() => {
		const form = document.querySelector(%s)
		form.querySelector("textarea").value = %s
		form.requestSubmit()
		return true
	})()`, quote(id("compare-dump")), quote(text)))
	b.do(chromedp.WaitVisible(id(wait)))
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// envoyDump is what an Envoy could say: some of the web's endpoints, one that nobody
// knows, and a cluster whose name is markup.
func envoyDump(proxy string) string {
	host := func(ip, health string) string {
		return `{"endpoint": {"address": {"socket_address": {"address": "` + ip + `", "port_value": 8080}}}, "health_status": "` + health + `"}`
	}
	cluster := func(name string, hosts ...string) string {
		return `{"endpoint_config": {"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": ` + quote(name) +
			`, "endpoints": [{"locality": {"region": "eu-west", "zone": "eu-west-a"}, "lb_endpoints": [` + strings.Join(hosts, ",") + `]}]}}`
	}
	return `{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.BootstrapConfigDump", "bootstrap": {"node": {"id": "sidecar~10.1.3.10~` + proxy + `~shop.svc.cluster.local"}}},
		{"@type": "type.googleapis.com/envoy.admin.v3.EndpointsConfigDump", "dynamic_endpoint_configs": [` +
		cluster("outbound|80||web.shop.svc.cluster.local", host(podIP("web", 0), "HEALTHY"), host(podIP("web", 2), "UNHEALTHY"), host(podIP("web", 4), "HEALTHY"), host("10.9.9.9", "HEALTHY")) + "," +
		cluster("outbound|80||"+hostile, host("10.9.9.8", "HEALTHY")) + `]}]}`
}

// TestComparePages looks at comparisons as at every other page.
func TestComparePages(t *testing.T) {
	axe := readAxe(t)
	s := newSite(t)
	s.connect()
	before := s.core.Snapshot()
	s.change(t)
	for _, l := range looks() {
		t.Run(l.name, func(t *testing.T) {
			b := s.open(t, l)
			b.visit("/login")
			b.logIn()
			look := func(name, want string) {
				t.Helper()
				if eval[int](b, "document.querySelectorAll('"+id(want)+"').length") == 0 {
					t.Errorf("%s does not show %s", name, want)
				}
				b.check(axe, name, l)
			}
			for _, p := range []struct{ name, query, want string }{
				{"compare", "", "compare-dump"},
				{"compare-proxy", "?with=mailer-7d4b9c-0.ops", "one-sided"},
				{"compare-same", "?with=" + compared, "verdict"},
				{"compare-moment", "?at=1", "transition"},
				{"compare-nobody", "?with=" + url.QueryEscape(hostile), "problem"},
			} {
				b.visit(views.CompareURL(compared) + p.query)
				look(p.name, p.want)
			}
			b.paste(compared, envoyDump(compared), "verdict")
			look("compare-envoy", "pair")
			b.paste(compared, envoyDump("other-0.shop"), "problem")
			look("compare-wrong", "problem")
			b.openSnapshot(hostile+archive.Extension, export(t, before))
			look("snapshot-diff", "proxy-diff")
			b.visit(views.CompareSnapshotURL(compared, b.openedKey()))
			look("compare-snapshot", "pair")
			b.openSnapshot("now"+archive.Extension, export(t, s.core.Snapshot()))
			look("snapshot-same", "verdict")
			if got := b.text(id("verdict")); !strings.Contains(got, "Nothing differs") {
				t.Errorf("the present state against its export: %q", got)
			}
			b.visit("/snapshots")
			look("snapshots-opened", "opened-snapshot")
		})
	}
}

// openedKey is the key of the newest opened snapshot, whose page is shown.
func (b *tab) openedKey() string {
	b.t.Helper()
	path := eval[string](b, "location.pathname")
	return path[strings.LastIndexByte(path, '/')+1:]
}
