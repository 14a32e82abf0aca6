package compare

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Report is what a Document says of one address in one cluster.
type Report struct {
	// Cluster tells whether the document has the cluster at all.
	Cluster bool
	// Endpoints are those with the address, none if the document has it not.
	Endpoints []Endpoint
	// Idle are how many of these get no requests, by what Envoy found out itself.
	Idle int
	// Text says it in words, without a full stop.
	Text string
}

// Report looks an address up, with or without its port; "" stands for all endpoints
// of the cluster.
func (d *Document) Report(cluster, address string) Report {
	all, ok := d.Set.Clusters[cluster]
	r := Report{Cluster: ok}
	var idle []string
	for _, e := range all {
		if address != "" && e.Address != address && hostOf(e.Address) != strings.Trim(address, "[]") {
			continue // not asked about
		}
		r.Endpoints = append(r.Endpoints, e)
		if e.Idle {
			r.Idle++
			idle = append(idle, e.Address+" ("+e.Health+")")
		}
	}
	switch {
	case !ok:
		r.Text = fmt.Sprintf("%s has no cluster %s", d.Party, cluster)
	case len(all) == 0:
		r.Text = fmt.Sprintf("%s has the cluster without any endpoint", d.Party)
	case len(r.Endpoints) == 0:
		r.Text = fmt.Sprintf("%s does not have it among the %d of the cluster", d.Party, len(all))
	case address == "":
		r.Text = fmt.Sprintf("%s has %s in the cluster", d.Party, endpoints(len(all)))
		if r.Idle > 0 {
			r.Text += fmt.Sprintf(", and balances no requests to %d of them: %s", r.Idle, few(idle))
		}
	case r.Idle > 0:
		r.Text = fmt.Sprintf("%s has %s and balances no requests to it", d.Party, idle[0])
	default:
		e := r.Endpoints[0]
		r.Text = fmt.Sprintf("%s has %s: %s, priority %d, weight %d", d.Party, e.Address, e.Health, e.Priority, e.Weight)
	}
	return r
}

func endpoints(n int) string {
	if n == 1 {
		return "1 endpoint"
	}
	return strconv.Itoa(n) + " endpoints"
}

// few names the first of many.
func few(list []string) string {
	const most = 5
	if len(list) > most {
		return strings.Join(list[:most], ", ") + ", …"
	}
	return strings.Join(list, ", ")
}

func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}
