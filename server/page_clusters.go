package server

import (
	"maps"
	"net/http"
	"slices"

	"github.com/a-h/templ"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

func (s *Server) clustersPage(r *http.Request) (any, templ.Component, error) {
	snap := s.core.Snapshot()
	c := s.chrome(r, snap, views.SectionClusters, "Clusters")
	m := views.Clusters{State: c.State}
	m.Clusters, m.Networks = s.meshSums(snap)
	return m, views.ClustersPage(c, m), nil
}

// meshSums are the clusters and the networks of the mesh, in order.
func (s *Server) meshSums(snap *state.Snapshot) ([]views.ClusterSum, []views.NetworkSum) {
	sum := newSums(s.core.Status().Source.Clusters)
	for svc := range snap.Services() {
		sum.service(svc)
	}
	for p := range snap.Proxies() {
		sum.cluster(p.Cluster).Proxies++
		sum.network(p.Network, p.Cluster).Proxies++
	}
	for _, g := range snap.Gateways() {
		if snap.LookedUp(g.Addr) {
			continue // its addresses are shown
		}
		n, address := sum.network(g.Network, g.Cluster), hostPort(g.Addr, g.Port)
		if g.Name != "" {
			address += " (" + g.Name + ")"
		}
		n.Gateways = append(n.Gateways, views.NetworkGateway{Address: address, From: g.Cluster, Name: !g.Addressed()})
	}
	clusters, networks := []views.ClusterSum{}, []views.NetworkSum{}
	for _, id := range slices.Sorted(maps.Keys(sum.clusters)) {
		clusters = append(clusters, *sum.clusters[id])
	}
	for _, id := range slices.Sorted(maps.Keys(sum.networks)) {
		n := sum.networks[id]
		n.Lacks = n.ID != "" && len(n.Gateways) == 0 && n.Endpoints > 0 && len(sum.networks) > 1
		n.Note = networkNote(n, len(sum.networks))
		networks = append(networks, *n)
	}
	return clusters, networks
}

func networkNote(n *views.NetworkSum, networks int) string {
	switch {
	case networks == 1:
		return "the only network: everybody reaches everybody directly"
	case n.ID == "":
		return "what names no network is taken to reach, and to be reached by, everybody"
	case n.Lacks:
		return "no gateway: proxies of other networks are given the endpoints' own addresses"
	default:
		return ""
	}
}

// sums gathers what comes from each cluster and is in each network.
type sums struct {
	clusters map[model.ClusterID]*views.ClusterSum
	networks map[model.NetworkID]*views.NetworkSum
}

func newSums(watched []source.ClusterStatus) sums {
	s := sums{clusters: map[model.ClusterID]*views.ClusterSum{}, networks: map[model.NetworkID]*views.NetworkSum{}}
	for _, w := range watched {
		s.clusters[w.ID] = &views.ClusterSum{
			ID: w.ID, Sync: w.Sync, Connected: w.Connected, LastEvent: w.LastEvent, Secret: w.SecretName,
			CredentialsSince: w.Since, Error: w.Error, Watched: true, Networks: []model.NetworkID{},
		}
	}
	return s
}

func (s sums) cluster(id model.ClusterID) *views.ClusterSum {
	c := s.clusters[id]
	if c == nil {
		c = &views.ClusterSum{ID: id, Networks: []model.NetworkID{}}
		s.clusters[id] = c
	}
	return c
}

// network returns that network, and notes that the cluster has part in it.
func (s sums) network(id model.NetworkID, cluster model.ClusterID) *views.NetworkSum {
	n := s.networks[id]
	if n == nil {
		n = &views.NetworkSum{ID: id, Clusters: []model.ClusterID{}, Gateways: []views.NetworkGateway{}}
		s.networks[id] = n
	}
	if cluster == "" || slices.Contains(n.Clusters, cluster) {
		return n
	}
	n.Clusters = append(n.Clusters, cluster)
	slices.Sort(n.Clusters)
	c := s.cluster(cluster)
	c.Networks = append(c.Networks, id)
	slices.Sort(c.Networks)
	return n
}

func (s sums) service(svc *state.ServiceState) {
	for _, sh := range svc.Shards {
		c := s.cluster(sh.Key.Cluster)
		c.Services++
		c.Endpoints += sh.Endpoints
		for _, chunk := range sh.Chunks {
			if chunk.Source.Kind == model.KindEndpointSlice {
				c.Slices++
			}
		}
		for _, x := range sh.Candidates {
			if x.Endpoint != nil && x.Endpoint.Workload != nil {
				s.network(x.Endpoint.Workload.Network, x.Endpoint.Workload.Cluster).Endpoints++
			}
		}
	}
}
