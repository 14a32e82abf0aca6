package server

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/views"
)

func (s *Server) proxyPage(r *http.Request) (any, templ.Component, error) {
	win, err := newWindow(r)
	if err != nil {
		return nil, nil, err
	}
	snap := s.core.Snapshot()
	p, err := s.findProxy(r, snap)
	if err != nil {
		return nil, nil, err
	}
	c := s.chrome(r, snap, views.SectionProxies, p.ID)
	c.Live = filter{proxy: p.ID}.query().Encode()
	streams := s.connected(r)
	sc := s.scopes.For(snap, p)
	clusters := cds.BuildIn(sc, snap, p)
	m := views.Proxy{
		State: c.State, ProxyRow: streams.row(p), Streams: streams.streams(p.ID), Pod: p.Pod, ServiceAccount: p.ServiceAccount,
		Labels: labelFacts(p.Labels), Query: r.URL.Query().Get("q"), InScope: len(clusters), Clusters: []views.ClusterRow{},
	}
	m.Scope, m.Show = newScope(sc), r.URL.Query().Get("show")
	if m.Show == "excluded" {
		m.Excluded = excludedRows(sc, m.Query, win)
	} else {
		m.Clusters = clusterRows(sc, clusters, m.Query, win)
	}
	m.Page = win.page()
	if name := r.URL.Query().Get("cluster"); name != "" {
		if m.Opened, err = openCluster(clusters, p.ID, name); err != nil {
			return nil, nil, err
		}
	}
	return m, views.ProxyPage(c, m), nil
}

// clusterRows are the clusters on the page whose names have the text in them.
func clusterRows(sc *scope.Scope, clusters []cds.Cluster, query string, win *window) []views.ClusterRow {
	list := []views.ClusterRow{}
	for i := range clusters {
		c := &clusters[i]
		if !strings.Contains(c.Name, query) || !win.next() {
			continue // on another page, or not asked for
		}
		row := newClusterRow(c, assigned(c))
		if c.Definition != nil {
			bringIn(&row, sc, c.Definition.Key)
		}
		list = append(list, row)
	}
	return list
}

func openCluster(clusters []cds.Cluster, proxy, name string) (*views.Cluster, error) {
	i, ok := slices.BinarySearchFunc(clusters, name, func(c cds.Cluster, name string) int { return strings.Compare(c.Name, name) })
	if !ok {
		return nil, notFound("proxy %s has no cluster %s: no service that it sees has this host, port and subset", proxy, name)
	}
	return newCluster(&clusters[i]), nil
}

// assigned is what the cluster gets, by EDS or inside of itself; nil if Envoy
// finds the addresses without either.
func assigned(c *cds.Cluster) *eds.Assignment {
	if c.Type == cds.EDS {
		return c.Assignment()
	}
	return c.Inline
}

func newClusterRow(c *cds.Cluster, a *eds.Assignment) views.ClusterRow {
	row := views.ClusterRow{
		Name: c.Name, Type: string(c.Type), Port: c.Port.Number, Subset: c.Subset,
		EDS: c.Type == cds.EDS, Note: clusterNote(c),
	}
	if c.Service != nil {
		row.Service = views.Ref(c.Service.Key)
	}
	switch {
	case c.Type == cds.EDS && a != nil && len(a.Reasons) == 0:
		row.Note, row.Unused = "no slice or other object lists an address", true
	case unused(c):
		row.Note, row.Unused = unusedNote(c), true
	}
	if a == nil {
		return row
	}
	counts := map[model.Reason]int{}
	for _, reason := range a.Reasons {
		if reason != model.ReasonNone {
			counts[reason]++
			row.Dropped++
		}
	}
	row.Sent, row.Reasons = a.Sent(), views.Reasons(counts)
	return row
}

// clusterNote says where a cluster that is not EDS has its addresses from.
func clusterNote(c *cds.Cluster) string {
	switch c.Type {
	case cds.EDS:
		return ""
	case cds.Static:
		return "addresses are in the cluster itself"
	case cds.StrictDNS, cds.LogicalDNS:
		return "the proxy looks names up in DNS"
	case cds.OriginalDst:
		return "the address is the one that the client calls"
	}
	return ""
}

// unused tells whether a ServiceEntry has addresses listed for it that no cluster of
// this type uses.
func unused(c *cds.Cluster) bool {
	return c.Type == cds.OriginalDst && c.Definition != nil && c.Definition.Provider == model.ProviderExternal && c.Service.CandidateCount() > 0
}

// unusedNote says that candidates are no endpoints of a cluster without assignment.
func unusedNote(c *cds.Cluster) string {
	return "none of " + views.Count(c.Service.CandidateCount(), "address", "addresses") + " is used (resolution NONE): " + clusterNote(c)
}

func labelFacts(l model.Labels) []views.Fact {
	list := make([]views.Fact, 0, len(l))
	for _, k := range slices.Sorted(maps.Keys(l)) {
		list = append(list, views.Fact{Name: k, Value: l[k]})
	}
	return list
}
