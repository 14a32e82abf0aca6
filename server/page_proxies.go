package server

import (
	"net/http"
	"slices"

	"github.com/a-h/templ"

	"github.com/edsight/edsight/core/model"
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
	for p := range snap.Proxies() {
		if (m.Namespace == "" || m.Namespace == p.Namespace) && find.proxy(p) && win.next() {
			m.Proxies = append(m.Proxies, newProxyRow(p))
		}
	}
	m.Page = win.page()
	return m, views.ProxiesPage(c, m), nil
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
