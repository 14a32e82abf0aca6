package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// viewColumnCount is how many views of a service have a column.
const viewColumnCount = 5

// viewColumns are the views of a service on one page.
type viewColumns struct {
	shown []views.ViewColumn
	more  int
	note  string
	// ports has, for each column, the verdicts by port name.
	ports   []map[string][]views.Verdict
	service *state.ServiceState
}

// viewGroup is the proxies that get the same of a service.
type viewGroup struct {
	members  []*model.Proxy
	clusters []cds.Cluster // one per port
}

// scoped are the proxies of one Key.
type scoped struct {
	key     scope.Key
	proxies []*model.Proxy
}

// byScope groups the proxies by what they may see, in the order of their IDs.
func (s *Server) byScope(snap *state.Snapshot) []scoped {
	var list []scoped
	at := map[scope.Key]int{}
	for p := range snap.Proxies() {
		k := s.scopes.KeyOf(snap, p)
		i, ok := at[k]
		if !ok {
			i = len(list)
			at[k] = i
			list = append(list, scoped{key: k})
		}
		list[i].proxies = append(list[i].proxies, p)
	}
	return list
}

// views groups the proxies that use the service by what they get of it.
func (s *Server) views(snap *state.Snapshot, svc *state.ServiceState, all []scoped) viewColumns {
	groups := s.viewGroups(snap, svc, all)
	slices.SortStableFunc(groups, func(a, b *viewGroup) int { return len(b.members) - len(a.members) })
	v := viewColumns{service: svc, shown: []views.ViewColumn{}, more: max(len(groups)-viewColumnCount, 0)}
	for _, g := range groups[:min(len(groups), viewColumnCount)] {
		v.shown = append(v.shown, views.ViewColumn{
			Name: groupName(g.members), Proxies: len(g.members), Example: g.members[0].ID, Cluster: g.clusters[0].Name,
		})
		v.ports = append(v.ports, portVerdicts(g.clusters))
	}
	v.note = viewsNote(len(groups), v.more)
	return v
}

func viewsNote(groups, more int) string {
	switch {
	case groups == 0:
		return "No proxy gets endpoints of this service from its control plane."
	case more > 0:
		return views.Count(more, "smaller group of proxies has", "smaller groups of proxies have") + " no column."
	default:
		return ""
	}
}

// viewGroups are the proxies that use the service, those together whose clusters
// for it have equal Views. Clusters are built once for each audience.
func (s *Server) viewGroups(snap *state.Snapshot, svc *state.ServiceState, all []scoped) []*viewGroup {
	var groups []*viewGroup
	byAudience, byView := map[cds.Audience]*viewGroup{}, map[string]*viewGroup{}
	for _, one := range all {
		sc := s.scopes.Narrow(snap, one.key, svc.Key.Hostname)
		if im := sc.Import(svc.Key.Hostname); im == nil || im.Definition.Key != svc.Key {
			continue // they use another definition, or none
		}
		audiences := cds.NewAudiences(sc)
		for _, p := range one.proxies {
			audience := audiences.Of(p)
			g, ok := byAudience[audience]
			if !ok {
				g = &viewGroup{clusters: portClusters(cds.Shared(sc, snap, p), svc)}
				id := viewID(g.clusters)
				if known := byView[id]; known != nil {
					g = known
				} else if byView[id] = g; len(g.clusters) > 0 {
					groups = append(groups, g)
				}
				byAudience[audience] = g
			}
			g.members = append(g.members, p)
		}
	}
	return groups
}

// viewID is equal for clusters with equal Views.
func viewID(clusters []cds.Cluster) string {
	list := make([]eds.View, len(clusters))
	for i := range clusters {
		list[i] = clusters[i].View
	}
	return fmt.Sprintf("%#v", list)
}

// portClusters are the clusters of the service without those of subsets.
func portClusters(all []cds.Cluster, svc *state.ServiceState) []cds.Cluster {
	return slices.DeleteFunc(all, func(c cds.Cluster) bool {
		return c.Service != svc || c.Subset != "" || c.View == (eds.View{})
	})
}

// portVerdicts builds each cluster and gives its verdicts by port name.
func portVerdicts(clusters []cds.Cluster) map[string][]views.Verdict {
	out := map[string][]views.Verdict{}
	for i := range clusters {
		a := assigned(&clusters[i])
		if a == nil {
			continue
		}
		list := make([]views.Verdict, len(a.Reasons))
		for j, reason := range a.Reasons {
			list[j] = views.Verdict{Reason: reason}
		}
		for _, l := range a.Localities {
			for _, e := range l.Endpoints {
				if e.Candidate >= 0 && e.Candidate < len(list) {
					list[e.Candidate] = views.Verdict{Sent: true, Priority: l.Priority, Weight: e.Weight}
				}
			}
		}
		out[clusters[i].Port.Name] = list
	}
	return out
}

// verdicts are those of a candidate, by its index in the service, one for each
// column.
func (v viewColumns) verdicts(index int, c *model.Candidate) []views.Verdict {
	out := make([]views.Verdict, len(v.ports))
	for i, byPort := range v.ports {
		list, ok := byPort[c.PortName]
		switch {
		case ok && index < len(list):
			out[i] = list[index]
		case c.Endpoint == nil:
			out[i].Reason = c.Reason
		default:
			out[i].Reason = model.ReasonPortNameMismatch
		}
		out[i].Explain = v.explain(i, c)
	}
	return out
}

// explain is the page that explains what one proxy of a column gets of a candidate:
// at the service port of its port name, else at the first.
func (v viewColumns) explain(column int, c *model.Candidate) string {
	def := v.service.Definition()
	if def == nil || len(def.Ports) == 0 {
		return ""
	}
	port := def.Ports[0].Number
	for _, p := range def.Ports {
		if p.Name == c.PortName {
			port = p.Number
			break
		}
	}
	return views.ExplainURL(v.shown[column].Example, string(def.Key.Hostname), port, "", c.Address)
}

// groupName says what proxies have in common: their name if there is one, else
// namespace and locality where these are the same.
func groupName(members []*model.Proxy) string {
	first := members[0]
	if len(members) == 1 {
		return first.ID
	}
	same := func(f func(*model.Proxy) string) string {
		if slices.ContainsFunc(members, func(p *model.Proxy) bool { return f(p) != f(first) }) {
			return ""
		}
		return f(first)
	}
	name := []string{"proxies"}
	if kind := same(func(p *model.Proxy) string { return string(p.Type) }); kind != "" {
		name[0] = kind + "s"
	}
	for _, part := range []string{
		same(func(p *model.Proxy) string { return p.Namespace }),
		same(func(p *model.Proxy) string { return p.Locality.String() }),
	} {
		if part != "" {
			name = append(name, part)
		}
	}
	return strings.Join(name, " ")
}
