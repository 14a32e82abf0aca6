package browser

import (
	"strings"
	"testing"
	"time"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/session"
	"github.com/edsight/edsight/views"
)

// crowd is a list of connected proxies.
type crowd struct{ list []session.Session }

func (c *crowd) Sessions() []session.Session    { return c.list }
func (*crowd) Names(string) map[string][]string { return nil }
func (*crowd) Disconnect(string) int            { return 0 }
func (*crowd) Push()                            {}

func typeURL(name string) string { return "type.googleapis.com/envoy.config." + name }

func message(nonce string, ago time.Duration) session.Message {
	return session.Message{Version: "2026-11-29T15:00:00Z/41", Nonce: "b2d8e0b0-" + nonce, Time: time.Now().Add(-ago)}
}

// connect has the proxies of the web connected; the last of them refuses its
// listeners and owes an answer. A client is there that is no Pod.
func (s *site) connect() {
	for i := range 5 {
		pod := model.ObjectKey{Cluster: cluster, Kind: model.KindPod, Namespace: "shop", Name: "web-7d4b9c-" + string(rune('0'+i))}
		one := session.Session{
			ID: pod.Name + ".shop-1", Proxy: pod.Name + ".shop", Address: "10.1.3.10:41234", ConnectedAt: time.Now().Add(-time.Hour), Delta: i%2 == 0,
			Node: session.Node{Pod: pod, EnvoyVersion: "1.36.2", IstioVersion: "1.28.2"},
			Types: []session.Type{
				{URL: typeURL("cluster.v3.Cluster"), Wildcard: true, Sent: message("1", time.Hour), Acked: message("1", time.Hour), Messages: 1, Resources: 12},
				{URL: typeURL("endpoint.v3.ClusterLoadAssignment"), Names: 9, Sent: message("2", time.Minute), Acked: message("2", time.Minute), Messages: 3, Resources: 20},
				{URL: typeURL("listener.v3.Listener"), Wildcard: true},
			},
		}
		if i == 4 {
			one.Types[1].Acked = message("1", time.Hour)
			one.Types[2].Sent, one.Types[2].Error, one.Types[2].ErrorAt = message("3", time.Minute), "Error adding/updating listener(s) virtualInbound: "+hostile, time.Now()
		}
		s.crowd.list = append(s.crowd.list, one)
	}
	s.crowd.list = append(s.crowd.list, session.Session{ID: "vm-1.shop-9", Proxy: "vm-1.shop", Address: "192.0.2.7:40000", Node: session.Node{Pod: model.ObjectKey{Namespace: "shop", Name: "vm-1"}}})
}

// deliver lets five proxies acknowledge a transition, and two not.
func deliver(j *journal.Journal, seq uint64) {
	d, at := j.Delivery(seq), time.Now()
	d.Affects(7)
	for range 6 {
		d.Sent(at)
	}
	for range 4 {
		d.Acked(at)
	}
	d.Unchanged(at)
	d.Rejected(journal.Rejection{Proxy: "web-7d4b9c-4.shop", Type: typeURL("listener.v3.Listener"), Message: "Error adding/updating listener(s) virtualInbound: " + hostile, Time: at})
}

// TestConnectedPages looks at the pages that differ when proxies are connected.
func TestConnectedPages(t *testing.T) {
	axe := readAxe(t)
	s := newSite(t)
	s.connect()
	deliver(s.core.Journal(), 1)
	for _, l := range looks() {
		t.Run(l.name, func(t *testing.T) {
			b := s.open(t, l)
			b.logIn()
			for _, p := range []struct{ name, path, want string }{
				{"live-connected", "/", "delivery"},
				{"transition-delivered", "/transitions/1", "rejection"},
				{"proxies-connected", "/proxies", "strangers"},
				{"proxies-missing", "/proxies?only=missing", "proxies"},
				{"proxy-session", views.ProxyURL("web-7d4b9c-4.shop"), "session-types"},
			} {
				b.visit(p.path)
				if eval[int](b, "document.querySelectorAll('"+id(p.want)+"').length") == 0 {
					t.Errorf("%s does not show %s", p.path, p.want)
				}
				b.check(axe, p.name, l)
			}
		})
	}
}

// TestLiveDelivery shows answers in a row that is on the page already, without
// loading it again.
func TestLiveDelivery(t *testing.T) {
	s := newSite(t)
	s.connect()
	b := s.open(t, looks()[0])
	b.logIn()
	s.pod("shop", "web", 5, nil)
	b.until("document.querySelector('" + id("transition") + "').dataset.seq > 1")
	seq := s.core.Journal().Last()
	deliver(s.core.Journal(), seq)
	b.until("document.querySelector('" + id("delivery") + "')?.innerText.includes('4/7 acked')")
	if got := b.text(id("station-acked")); !strings.Contains(got, "4") || !strings.Contains(got, "1 rejected") {
		t.Errorf("the station says %q", got)
	}
	b.noErrors()
}
