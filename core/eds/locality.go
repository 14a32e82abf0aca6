package eds

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/edsight/edsight/core/model"
)

// applyLocality sets weights and priorities of the localities. Distribution
// excludes failover; failoverPriority and failover can be combined.
func (b *builder) applyLocality() {
	l := &b.view.Locality
	if l.Distribute != "" {
		b.distribute(l.Distribute)
		return
	}
	if l.Priority != "" {
		b.prioritise(l.Priority)
	}
	if l.Failover {
		failover(b.localities, l)
	}
}

type share struct {
	pattern string
	weight  uint64
}

// distribute gives the localities their shares. A locality that no pattern names
// stays, without endpoints.
func (b *builder) distribute(p Pairs) {
	var shares []share
	for pattern, w := range p.All() {
		n, _ := strconv.ParseUint(w, 10, 32)
		shares = append(shares, share{pattern, n})
	}
	slices.SortStableFunc(shares, func(a, b share) int {
		return cmp.Or(cmp.Compare(strings.Count(a.pattern, "*"), strings.Count(b.pattern, "*")), strings.Compare(a.pattern, b.pattern))
	})
	rest := make([]*LocalityEndpoints, len(b.localities))
	for i := range b.localities {
		rest[i] = &b.localities[i]
	}
	for _, s := range shares {
		rest = s.apply(rest)
	}
	for _, l := range rest {
		b.reject(l.Endpoints, model.ReasonLocalityNotDistributed)
		l.Endpoints = nil
	}
}

// apply divides the share among the localities that match, and returns the
// others.
func (s share) apply(localities []*LocalityEndpoints) []*LocalityEndpoints {
	var rest, matched []*LocalityEndpoints
	total := uint64(0)
	for _, l := range localities {
		if !LocalityMatches(l.Locality, s.pattern) {
			rest = append(rest, l)
			continue
		}
		l.Weight = max(l.Weight, 1)
		total += uint64(l.Weight)
		matched = append(matched, l)
	}
	for _, l := range matched {
		if part := uint64(l.Weight) * s.weight; part > 0 {
			l.Weight = saturate((part + total - 1) / total)
		}
	}
	return rest
}

// LocalityMatches tells whether the locality is one of the pattern's
// "region/zone/subzone", of which each part may be "*", and the later ones may be
// absent.
func LocalityMatches(l model.Locality, pattern string) bool {
	p := model.ParseLocality(pattern)
	return (p.Region == "*" || p.Region == l.Region) &&
		(p.Zone == "*" || p.Zone == "" || p.Zone == l.Zone) &&
		(p.Subzone == "*" || p.Subzone == "" || p.Subzone == l.Subzone)
}

// failover orders the localities by closeness to the proxy.
func failover(localities []LocalityEndpoints, s *Locality) {
	for i := range localities {
		l := &localities[i]
		p := distance(s.Proxy, l.Locality)
		if p == 3 && s.HasTo && l.Locality.Region != s.To {
			p = 4
		}
		l.Priority = l.Priority*5 + p
	}
	compress(localities)
}

func distance(a, b model.Locality) uint32 {
	switch {
	case a.Region != b.Region:
		return 3
	case a.Zone != b.Zone:
		return 2
	case a.Subzone != b.Subzone:
		return 1
	}
	return 0
}

// prioritise splits each locality by the number of labels, counted from the
// first, in which its endpoints are like the proxy.
func (b *builder) prioritise(labels Pairs) {
	out := make([]LocalityEndpoints, 0, len(b.localities))
	for _, l := range b.localities {
		groups := map[uint32][]LbEndpoint{}
		for _, e := range l.Endpoints {
			p := b.priority(e, labels)
			groups[p] = append(groups[p], e)
		}
		for _, p := range sortedKeys(groups) {
			g := LocalityEndpoints{Locality: l.Locality, Priority: p, Endpoints: groups[p]}
			g.Weight = sumWeights(g.Endpoints)
			out = append(out, g)
		}
	}
	compress(out)
	b.localities = out
}

func (b *builder) priority(e LbEndpoint, labels Pairs) uint32 {
	get := func(key string) string {
		if e.Candidate < 0 {
			return gatewayLabel(e, key)
		}
		return b.candidates[e.Candidate].Endpoint.Workload.Labels[key]
	}
	different := false
	behind := uint32(0)
	for k, v := range labels.All() {
		different = different || get(k) != v
		if different {
			behind++
		}
	}
	return behind
}

func gatewayLabel(e LbEndpoint, key string) string {
	switch key {
	case model.LabelCluster:
		return string(e.gateway.Cluster)
	case model.LabelNetwork:
		return string(e.gateway.Network)
	}
	return ""
}

// compress makes the priorities follow each other from 0.
func compress(localities []LocalityEndpoints) {
	seen := map[uint32]uint32{}
	for _, l := range localities {
		seen[l.Priority] = 0
	}
	for i, p := range sortedKeys(seen) {
		seen[p] = uint32(i)
	}
	for i := range localities {
		localities[i].Priority = seen[localities[i].Priority]
	}
}

func sortedKeys[V any](m map[uint32]V) []uint32 {
	keys := make([]uint32, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func sumWeights(endpoints []LbEndpoint) uint32 {
	sum := uint64(0)
	for _, e := range endpoints {
		sum += uint64(e.Weight)
	}
	return saturate(sum)
}
