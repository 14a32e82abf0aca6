package compare

// Reason is why a side does not have something.
type Reason struct {
	Text string
	// Kind is the same for reasons that differ in nothing but the endpoint; "" for one
	// that is like no other.
	Kind string
}

// Ask says why a side does not have an endpoint of a cluster; with "" for an address,
// why it does not have the cluster. It is nil for a side that cannot tell.
type Ask func(t Target, address string) Reason

// Explain asks, for at most limit endpoints and clusters that one side lacks, why it
// does. Of the reasons of a kind it gives the first in full, and at the other
// endpoints of the cluster leads there.
func (d *Difference) Explain(limit int, here, there Ask) {
	ask := func(of Ask, cluster, address string) Reason {
		t, ok := ParseCluster(cluster)
		if of == nil || !ok || limit == 0 {
			return Reason{}
		}
		limit--
		return of(t, address)
	}
	for i := range d.Clusters {
		c := &d.Clusters[i]
		switch {
		case !c.Here:
			c.Why = ask(here, c.Name, "").Text
			continue
		case !c.There:
			c.Why = ask(there, c.Name, "").Text
			continue
		}
		saidHere, saidThere := said{}, said{}
		for j := range c.Endpoints {
			p := &c.Endpoints[j]
			switch {
			case p.Here == nil:
				p.Why = saidHere.once(ask(here, c.Name, hostOf(p.Address)), p.Address)
			case p.There == nil:
				p.Why = saidThere.once(ask(there, c.Name, hostOf(p.Address)), p.Address)
			case p.Here.Health == notHealthy || p.There.Health == notHealthy:
				p.Why = "Envoy's config_dump does not tell ejected, failing and draining endpoints apart; /clusters?format=json does."
			}
		}
	}
}

// said has the address at which each kind of reason was given in full.
type said map[string]string

// once is the reason in full, or where that is.
func (s said) once(r Reason, address string) string {
	if r.Kind == "" {
		return r.Text
	}
	if at, ok := s[r.Kind]; ok {
		return "As for " + at + "."
	}
	s[r.Kind] = address
	return r.Text
}
