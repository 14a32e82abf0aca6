package server

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// FuzzHost looks for Host headers that are admitted and that a browser would
// take for a name other than this machine's.
func FuzzHost(f *testing.F) {
	for _, host := range []string{"localhost", "LOCALHOST:80", "127.0.0.1:8080", "[::1]:1", "localhost.", "localhost:1@evil.example", "[::1].evil", ""} {
		f.Add(host)
	}
	s := New(newFakeCore(), Options{})
	f.Fuzz(func(t *testing.T, host string) {
		if !s.hostAllowed(host) {
			return
		}
		u, err := url.Parse("http://" + host + "/")
		if err != nil {
			return // no browser would call it
		}
		name := strings.ToLower(u.Hostname())
		if addr, err := netip.ParseAddr(name); name != "localhost" && (err != nil || !addr.IsLoopback()) {
			t.Errorf("%q is admitted and means %q", host, name)
		}
	})
}

// FuzzFilter holds that a query is refused or filters without failing.
func FuzzFilter(f *testing.F) {
	f.Add("namespace=shop&service=web&address=10.0.0.9&push=full&proxy=web-0.shop")
	f.Add("push=half")
	core := newFullCore()
	s := New(core, Options{})
	f.Fuzz(func(t *testing.T, query string) {
		q, err := url.ParseQuery(query)
		if err != nil {
			return // the handler never sees it
		}
		fl, err := newFilter(q)
		if err != nil {
			return
		}
		passed := 0
		for _, tr := range core.journal.Since(0, 10).Transitions {
			if fl.wants(tr, s.concerns) {
				passed++
			}
		}
		if fl == (filter{}) && passed != int(core.journal.Last()) {
			t.Errorf("%q filters nothing and lets %d pass", query, passed)
		}
	})
}
