package compare

// Ask says why a side does not have an endpoint of a cluster; with "" for an address,
// why it does not have the cluster. It is nil for a side that cannot tell.
type Ask func(t Target, address string) string

// Explain asks, for at most limit endpoints and clusters that one side lacks, why it
// does.
func (d *Difference) Explain(limit int, here, there Ask) {
	ask := func(of Ask, cluster, address string) string {
		t, ok := ParseCluster(cluster)
		if of == nil || !ok || limit == 0 {
			return ""
		}
		limit--
		return of(t, address)
	}
	for i := range d.Clusters {
		c := &d.Clusters[i]
		switch {
		case !c.Here:
			c.Why = ask(here, c.Name, "")
			continue
		case !c.There:
			c.Why = ask(there, c.Name, "")
			continue
		}
		for j := range c.Endpoints {
			p := &c.Endpoints[j]
			switch {
			case p.Here == nil:
				p.Why = ask(here, c.Name, hostOf(p.Address))
			case p.There == nil:
				p.Why = ask(there, c.Name, hostOf(p.Address))
			case p.Here.Health == notHealthy || p.There.Health == notHealthy:
				p.Why = "Envoy's config_dump does not tell ejected, failing and draining endpoints apart; /clusters?format=json does."
			}
		}
	}
}
