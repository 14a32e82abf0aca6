package compare

import (
	"maps"
	"slices"
)

// Difference is in what two sides, "here" and "there", are not the same.
type Difference struct {
	// Same counts the clusters that do not differ, Unchecked those of which at least
	// one side has no endpoints from the control plane.
	Same      int `json:"same"`
	Unchecked int `json:"unchecked,omitempty"`
	// Clusters are those that differ, by name.
	Clusters []Cluster `json:"clusters"`
	Counts
}

// Counts are numbers of endpoints that differ.
type Counts struct {
	OnlyHere  int `json:"onlyHere"`
	OnlyThere int `json:"onlyThere"`
	Changed   int `json:"changed"`
}

// Cluster is one that differs.
type Cluster struct {
	Name string `json:"name"`
	// Here and There tell which sides have the cluster at all.
	Here  bool `json:"here"`
	There bool `json:"there"`
	// Endpoints are those that differ.
	Endpoints []Pair `json:"endpoints"`
	// Why says why a side does not have the cluster; see Explain.
	Why string `json:"why,omitempty"`
}

// Pair is an endpoint on both sides; nil where it is not.
type Pair struct {
	Address string    `json:"address"`
	Here    *Endpoint `json:"here,omitempty"`
	There   *Endpoint `json:"there,omitempty"`
	// Fields are those which are not the same if both sides have the endpoint.
	Fields []string `json:"fields,omitempty"`
	// Why says why a side does not have the endpoint; see Explain.
	Why string `json:"why,omitempty"`
}

// Empty tells whether both sides are the same.
func (d *Difference) Empty() bool { return len(d.Clusters) == 0 }

// Sets compares two sides.
func Sets(here, there Set) *Difference {
	d := &Difference{Clusters: []Cluster{}}
	for _, name := range names(here, there) {
		a, inA := here.Clusters[name]
		b, inB := there.Clusters[name]
		switch {
		case inA && inB:
			d.add(Cluster{Name: name, Here: true, There: true, Endpoints: differing(a, b)})
		case inA && !there.Elsewhere[name]:
			d.add(Cluster{Name: name, Here: true, Endpoints: pairs(a, nil)})
		case inB && !here.Elsewhere[name]:
			d.add(Cluster{Name: name, There: true, Endpoints: pairs(nil, b)})
		case !inA && !inB && here.Elsewhere[name] != there.Elsewhere[name] && here.Whole && there.Whole:
			d.add(Cluster{Name: name, Here: here.Elsewhere[name], There: there.Elsewhere[name], Endpoints: []Pair{}})
		default:
			d.Unchecked++
		}
	}
	return d
}

func names(sets ...Set) []string {
	all := map[string]bool{}
	for _, s := range sets {
		for name := range s.Clusters {
			all[name] = true
		}
		for name := range s.Elsewhere {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func (d *Difference) add(c Cluster) {
	if c.Here && c.There && len(c.Endpoints) == 0 {
		d.Same++
		return
	}
	d.Clusters = append(d.Clusters, c)
	d.count(c.Endpoints)
}

func (c *Counts) count(list []Pair) {
	for i := range list {
		switch {
		case list[i].There == nil:
			c.OnlyHere++
		case list[i].Here == nil:
			c.OnlyThere++
		default:
			c.Changed++
		}
	}
}

// differing are the endpoints that differ. The weight of a locality counts only if
// nothing else differs, as it mostly is the sum of what is in it.
func differing(here, there []Endpoint) []Pair {
	if slices.Equal(here, there) {
		return []Pair{}
	}
	if out := pairs(alone(here), alone(there)); len(out) > 0 {
		return out
	}
	return pairs(here, there)
}

func alone(list []Endpoint) []Endpoint {
	out := slices.Clone(list)
	for i := range out {
		out[i].LocalityWeight = 0
	}
	return out
}

// pairs are the endpoints that differ in two sorted lists. An address may be there
// several times, as a gateway is that stands for endpoints of several localities:
// those that are the same are taken out first, and the rest is paired in order.
func pairs(here, there []Endpoint) []Pair {
	out := []Pair{}
	for len(here) > 0 || len(there) > 0 {
		address := first(here, there)
		a, restHere := cut(here, address)
		b, restThere := cut(there, address)
		out = append(out, pairsOf(address, a, b)...)
		here, there = restHere, restThere
	}
	return out
}

func first(here, there []Endpoint) string {
	switch {
	case len(here) == 0:
		return there[0].Address
	case len(there) == 0 || here[0].Address < there[0].Address:
		return here[0].Address
	}
	return there[0].Address
}

// cut takes the endpoints of the address from the beginning of a sorted list.
func cut(list []Endpoint, address string) (of, rest []Endpoint) {
	n := 0
	for n < len(list) && list[n].Address == address {
		n++
	}
	return list[:n], list[n:]
}

func pairsOf(address string, here, there []Endpoint) []Pair {
	here, there = unlike(here, there)
	out := make([]Pair, 0, max(len(here), len(there)))
	for i := range max(len(here), len(there)) {
		p := Pair{Address: address}
		if i < len(here) {
			p.Here = &here[i]
		}
		if i < len(there) {
			p.There = &there[i]
		}
		if p.Here != nil && p.There != nil {
			p.Fields = fields(*p.Here, *p.There)
		}
		out = append(out, p)
	}
	return out
}

// mostAlike is how many endpoints of one address are looked at for others like them.
const mostAlike = 100

// unlike takes out what is on both sides.
func unlike(here, there []Endpoint) (a, b []Endpoint) {
	b = slices.Clone(there)
	for i, e := range here {
		if i < mostAlike {
			same := func(o Endpoint) bool { return len(fields(e, o)) == 0 }
			if j := slices.IndexFunc(b[:min(len(b), mostAlike)], same); j >= 0 {
				b = slices.Delete(b, j, j+1)
				continue
			}
		}
		a = append(a, e)
	}
	return a, b
}

// fields names what is not the same.
func fields(a, b Endpoint) []string {
	var out []string
	for _, f := range []struct {
		name string
		same bool
	}{
		{"health", sameHealth(a.Health, b.Health)},
		{"priority", a.Priority == b.Priority},
		{"locality", a.Locality == b.Locality},
		{"weight", a.Weight == b.Weight},
		{"locality weight", a.LocalityWeight == b.LocalityWeight || a.LocalityWeight == 0 || b.LocalityWeight == 0},
	} {
		if !f.same {
			out = append(out, f.name)
		}
	}
	return out
}

func sameHealth(a, b string) bool {
	vague := func(vague, exact string) bool {
		return vague == notHealthy && (exact == "draining" || exact == "unhealthy" || exact == "timeout")
	}
	return a == b || vague(a, b) || vague(b, a)
}
