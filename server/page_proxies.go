package server

import (
	"net/http"
	"slices"

	"github.com/a-h/templ"

	"github.com/edsight/edsight/core/model"
	xds "github.com/edsight/edsight/core/session"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

func (s *Server) proxiesPage(r *http.Request) (any, templ.Component, error) {
	win, err := newWindow(r)
	if err != nil {
		return nil, nil, err
	}
	snap, q := s.core.Snapshot(), r.URL.Query()
	c := s.chrome(r, snap, views.SectionProxies, "Proxies")
	find := newSearch(q.Get("q"))
	m := views.Proxies{
		State: c.State, Query: q.Get("q"), Namespace: q.Get("namespace"),
		InMesh: snap.ProxyCount(), Namespaces: proxyNamespaces(snap), Proxies: []views.ProxyRow{},
	}
	streams := s.connected(r)
	m.Streams, m.Only = streams.total, q.Get("only")
	for p := range snap.Proxies() {
		row := streams.row(p)
		countProxy(&m, &row)
		if (m.Namespace == "" || m.Namespace == p.Namespace) && find.proxy(p) && wantsProxy(&row, m.Only) && win.next() {
			m.Proxies = append(m.Proxies, row)
		}
	}
	m.Page = win.page()
	m.Strangers = streams.strangers(snap)
	if m.More = max(len(m.Strangers)-strangers, 0); m.More > 0 {
		m.Strangers = m.Strangers[:strangers]
	}
	return m, views.ProxiesPage(c, m), nil
}

func countProxy(m *views.Proxies, p *views.ProxyRow) {
	count := func(n *int, only string) {
		if wantsProxy(p, only) {
			*n++
		}
	}
	count(&m.Connected, "connected")
	count(&m.Missing, "missing")
	count(&m.Late, "unacked")
	count(&m.Rejecting, "rejected")
}

func wantsProxy(p *views.ProxyRow, only string) bool {
	switch only {
	case "connected":
		return p.Connected
	case "missing":
		return p.Missing
	case "unacked":
		return !p.Unacked.IsZero()
	case "rejected":
		return slices.ContainsFunc(p.Types, func(t views.StreamType) bool { return t.Status == string(xds.Error) })
	default:
		return true
	}
}

func newProxyRow(p *model.Proxy) views.ProxyRow {
	return views.ProxyRow{
		ID: p.ID, Type: p.Type, Namespace: p.Namespace, Cluster: p.Cluster, Network: p.Network,
		Locality: p.Locality.String(), Node: p.Node, Version: p.Version, IPs: p.IPs,
	}
}

func proxyNamespaces(snap *state.Snapshot) []string {
	seen := map[string]bool{}
	var list []string
	for p := range snap.Proxies() {
		if !seen[p.Namespace] {
			seen[p.Namespace] = true
			list = append(list, p.Namespace)
		}
	}
	slices.Sort(list)
	return list
}
