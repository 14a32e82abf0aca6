package server

import (
	"net"
	"strings"

	"github.com/edsight/edsight/core/compare"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/views"
)

// What the page of a comparison lists and explains; the rest is counted.
const (
	comparedClusters  = 50
	comparedEndpoints = 100 // per cluster
	comparedReasons   = 50
	comparedPast      = 1000 // transitions
)

// compareInto compares both sides.
func (s *Server) compareInto(m *views.Compare, here, there party) {
	a, b := sets(&here, &there)
	d := compare.Sets(a, b)
	m.Answered, m.Here, m.There = true, here.name, there.name
	m.Same, m.Equal, m.Unchecked = d.Empty(), d.Same, d.Unchecked
	m.OnlyHere, m.OnlyThere, m.Changed = d.OnlyHere, d.OnlyThere, d.Changed
	m.Verdict = compareVerdict(m, len(d.Clusters))
	m.More = max(len(d.Clusters)-comparedClusters, 0)
	d.Clusters = d.Clusters[:len(d.Clusters)-m.More]
	more := map[string]int{}
	for i := range d.Clusters {
		c := &d.Clusters[i]
		more[c.Name] = max(len(c.Endpoints)-comparedEndpoints, 0)
		c.Endpoints = c.Endpoints[:len(c.Endpoints)-more[c.Name]]
	}
	d.Explain(comparedReasons, here.ask, there.ask)
	last := s.lastChanges(d)
	for i := range d.Clusters {
		c := newCompareCluster(&d.Clusters[i], here.proxy, there.proxy, last)
		c.More = more[c.Name]
		m.Clusters = append(m.Clusters, c)
	}
}

func compareVerdict(m *views.Compare, differ int) string {
	if m.Same {
		return "Nothing differs in " + views.Count(m.Equal, "cluster", "clusters") + "."
	}
	return views.Number(differ) + " of " + views.Count(differ+m.Equal, "cluster", "clusters") + " " + views.Noun(differ, "differs", "differ") + " between “" + m.Here + "” and “" + m.There + "”."
}

// newCompareCluster shows a cluster that differs. Here and there are proxies; the one
// that lacks something has the explanation.
func newCompareCluster(c *compare.Cluster, here, there string, last map[placed]uint64) views.CompareCluster {
	v := views.CompareCluster{Name: c.Name, Here: c.Here, There: c.There, Why: c.Why, Endpoints: []views.ComparePair{}}
	t, ok := compare.ParseCluster(c.Name)
	explain := func(inThere bool, address string) string {
		proxy := here
		if !inThere {
			proxy = there
		}
		if !ok {
			return ""
		}
		return views.ExplainURL(proxy, string(t.Host), t.Port, t.Subset, address)
	}
	if !c.Here || !c.There {
		v.Explain = explain(c.There, "")
	}
	for _, p := range c.Endpoints {
		pair := views.ComparePair{
			Address: p.Address, Here: newCompareEndpoint(p.Here), There: newCompareEndpoint(p.There), Fields: p.Fields, Why: p.Why,
			Transition: last[placed{t.Host, hostOfAddress(p.Address)}],
		}
		if c.Here && c.There {
			pair.Explain = explain(p.There != nil, hostOfAddress(p.Address))
		}
		v.Endpoints = append(v.Endpoints, pair)
	}
	return v
}

func newCompareEndpoint(e *compare.Endpoint) *views.CompareEndpoint {
	if e == nil {
		return nil
	}
	return &views.CompareEndpoint{Health: e.Health, Priority: e.Priority, Locality: e.Locality, Weight: e.Weight, LocalityWeight: e.LocalityWeight}
}

// placed is an address of a host.
type placed struct {
	host    model.Hostname
	address string
}

// lastChanges finds, for the endpoints that differ, the last transition that changed
// one.
func (s *Server) lastChanges(d *compare.Difference) map[placed]uint64 {
	wanted := map[placed]uint64{}
	for i := range d.Clusters {
		if t, ok := compare.ParseCluster(d.Clusters[i].Name); ok {
			for _, p := range d.Clusters[i].Endpoints {
				wanted[placed{t.Host, hostOfAddress(p.Address)}] = 0
			}
		}
	}
	j := s.core.Journal()
	for seq, n := j.Last(), 0; seq > 0 && n < comparedPast && len(wanted) > 0; seq, n = seq-1, n+1 {
		t := j.Get(seq)
		if t == nil {
			break
		}
		for i := range t.Diff.Services {
			c := &t.Diff.Services[i]
			for _, e := range c.Endpoints {
				one := e.After
				if one == nil {
					one = e.Before
				}
				key := placed{c.Key.Hostname, one.Address}
				if found, ok := wanted[key]; ok && found == 0 {
					wanted[key] = seq
				}
			}
		}
	}
	return wanted
}

// hostOfAddress takes the port off.
func hostOfAddress(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return strings.Trim(address, "[]")
	}
	return host
}
