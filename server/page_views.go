package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

const (
	// viewColumnCount is how many views of a service have a column without being
	// asked for; those that are odd have one besides.
	viewColumnCount = 5
	// oddColumnCount is how many odd ones at most, and allColumnCount how many are
	// shown when all are asked for.
	oddColumnCount = 10
	allColumnCount = 60
)

// viewColumns are the views of a service on one page.
type viewColumns struct {
	shown   []views.ViewColumn
	more    int
	note    string
	groups  []*viewGroup // of the columns
	changes changes
	service *state.ServiceState
}

// viewGroup is the proxies that get the same of a service.
type viewGroup struct {
	members  []*model.Proxy
	clusters []cds.Cluster // one per port
	// assigned is what they get by port name, and ports the verdicts of it, where the
	// group has a column.
	assigned map[string]*eds.Assignment
	ports    map[string]portView
	// odd tells that it gets other endpoints than the largest group.
	odd  bool
	acks acks
}

// portView is what a group gets of one port: a verdict for each candidate.
type portView struct {
	view     eds.View
	verdicts []views.Verdict
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
func (s *Server) views(snap *state.Snapshot, svc *state.ServiceState, all []scoped, streams connected, everything bool) viewColumns {
	groups := s.viewGroups(snap, svc, all)
	for _, g := range groups {
		g.assigned = assignments(g.clusters)
	}
	v := viewColumns{service: svc, shown: []views.ViewColumn{}}
	v.groups = arrange(groups, everything)
	v.more = len(groups) - len(v.groups)
	for _, g := range v.groups {
		g.ports, g.acks = portViews(g.assigned), acksOf(g.members, streams)
		v.shown = append(v.shown, views.ViewColumn{
			Name: groupName(g.members), Proxies: len(g.members), Example: g.members[0].ID, Cluster: g.clusters[0].Name,
			Odd: g.odd, Missing: g.acks.missing, Late: len(g.acks.late), Rejected: g.acks.rejected,
		})
	}
	if slices.ContainsFunc(v.groups, func(g *viewGroup) bool { return len(g.acks.late) > 0 }) {
		v.changes = s.changesOf(svc.Key)
	}
	if len(groups) == 0 {
		v.note = "No proxy gets endpoints of this service from its control plane."
	}
	return v
}

// arrange chooses the groups that have a column: those first that get other
// endpoints than the largest, the smallest at the front, then the others by size.
func arrange(groups []*viewGroup, everything bool) []*viewGroup {
	if len(groups) == 0 {
		return nil
	}
	bySize := func(a, b *viewGroup) int { return len(b.members) - len(a.members) }
	slices.SortStableFunc(groups, bySize)
	var odd, rest []*viewGroup
	for _, g := range groups {
		if g.odd = !sameSent(g, groups[0]); g.odd {
			odd = append(odd, g)
		} else {
			rest = append(rest, g)
		}
	}
	slices.SortStableFunc(odd, func(a, b *viewGroup) int { return bySize(b, a) })
	oddLimit, limit := oddColumnCount, max(viewColumnCount, len(odd)+1)
	if everything {
		oddLimit, limit = allColumnCount-1, allColumnCount
	}
	odd = odd[:min(len(odd), oddLimit)]
	return slices.Concat(odd, rest[:min(len(rest), limit-len(odd))])
}

// sameSent tells whether two groups get the same endpoints, whatever their priorities.
func sameSent(a, b *viewGroup) bool {
	return maps.EqualFunc(a.assigned, b.assigned, func(x, y *eds.Assignment) bool {
		return slices.EqualFunc(x.Reasons, y.Reasons, func(r, q model.Reason) bool {
			return (r == model.ReasonNone) == (q == model.ReasonNone)
		})
	})
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

// portClusters are the clusters of the service without those of subsets, and without
// those that could not have its endpoints.
func portClusters(all []cds.Cluster, svc *state.ServiceState) []cds.Cluster {
	return slices.DeleteFunc(all, func(c cds.Cluster) bool {
		return c.Service != svc || c.Subset != "" || c.View == (eds.View{}) && !unused(&c)
	})
}

// assignments builds each cluster, by port name.
func assignments(clusters []cds.Cluster) map[string]*eds.Assignment {
	out := map[string]*eds.Assignment{}
	for i := range clusters {
		if a := assigned(&clusters[i]); a != nil {
			out[clusters[i].Port.Name] = a
		}
	}
	return out
}

// portViews gives the verdicts by port name.
func portViews(byPort map[string]*eds.Assignment) map[string]portView {
	out := map[string]portView{}
	for name, a := range byPort {
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
		out[name] = portView{a.View, list}
	}
	return out
}

// verdicts are those of a candidate, by its index in the service, one for each
// column.
func (v viewColumns) verdicts(index int, c *model.Candidate) []views.Verdict {
	out := make([]views.Verdict, len(v.groups))
	for i, g := range v.groups {
		port, ok := g.ports[c.PortName]
		switch {
		case ok && index < len(port.verdicts):
			out[i] = port.verdicts[index]
		case c.Endpoint == nil:
			out[i].Reason = c.Reason
		case unused(&g.clusters[0]):
			out[i].Reason = model.ReasonResolutionNone
		default:
			out[i].Reason = model.ReasonPortNameMismatch
		}
		if !out[i].Sent {
			out[i].Why = v.why(g, port.view, c, out[i].Reason)
		}
		out[i].Unacked = g.acks.before(v.changes.of(c))
		out[i].Explain = v.explain(i, c)
	}
	return out
}

// why says a reason with both sides of its comparison.
func (v viewColumns) why(g *viewGroup, view eds.View, c *model.Candidate, reason model.Reason) string {
	if reason == model.ReasonPortNameMismatch && len(g.clusters) > 0 {
		view = g.clusters[0].View // no cluster has the candidate's port name
	}
	return reasonText(c, view, reason)
}

// differs tells whether the columns do not agree on who gets a candidate.
func (v viewColumns) differs(index int, c *model.Candidate) bool {
	sent := func(g *viewGroup) bool {
		port := g.ports[c.PortName]
		return index < len(port.verdicts) && port.verdicts[index].Sent
	}
	return slices.ContainsFunc(v.groups, func(g *viewGroup) bool { return sent(g) != sent(v.groups[0]) })
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
