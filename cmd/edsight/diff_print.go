package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/edsight/edsight/core/compare"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/state"
)

// maxReasons is how many endpoints diff explains.
const maxReasons = 1000

// endpoints compares what both sides say of one proxy.
func (f *diffFlags) endpoints(w io.Writer, a, b *operand, proxy string) (differs bool, err error) {
	here, err := a.set(proxy)
	if err != nil {
		return false, err
	}
	there, err := b.set(proxy)
	if err != nil {
		return false, err
	}
	d := compare.Sets(here, there)
	d.Explain(maxReasons, a.ask(proxy), b.ask(proxy))
	if f.out == "json" {
		return !d.Empty(), printJSON(w, d)
	}
	var out strings.Builder
	for i := range d.Clusters {
		writeCluster(&out, &d.Clusters[i])
	}
	fmt.Fprintf(&out, "clusters that differ: %d of %d; endpoints only in %s: %d, only in %s: %d, changed: %d\n",
		len(d.Clusters), len(d.Clusters)+d.Same, a.name, d.OnlyHere, b.name, d.OnlyThere, d.Changed)
	_, err = io.WriteString(w, printable(out.String()))
	return !d.Empty(), err
}

func writeCluster(w *strings.Builder, c *compare.Cluster) {
	mark := ""
	if !c.Here || !c.There {
		mark = " (only on one side)"
	}
	fmt.Fprintf(w, "%s%s\n", c.Name, mark)
	if c.Why != "" {
		fmt.Fprintf(w, "      %s\n", c.Why)
	}
	for _, p := range c.Endpoints {
		switch {
		case p.There == nil:
			fmt.Fprintf(w, "  - %s  %s\n", p.Address, endpointLine(p.Here))
		case p.Here == nil:
			fmt.Fprintf(w, "  + %s  %s\n", p.Address, endpointLine(p.There))
		default:
			fmt.Fprintf(w, "  ~ %s  %s → %s (%s)\n", p.Address, endpointLine(p.Here), endpointLine(p.There), strings.Join(p.Fields, ", "))
		}
		if p.Why != "" {
			fmt.Fprintf(w, "      %s\n", p.Why)
		}
	}
}

func endpointLine(e *compare.Endpoint) string {
	return fmt.Sprintf("%s, priority %d, weight %d, %s", e.Health, e.Priority, e.Weight, cmp.Or(e.Locality, "no locality"))
}

// difference is what diff says of two states as JSON.
type difference struct {
	Services []serviceDifference `json:"services"`
	Proxies  []proxyDifference   `json:"proxies"`
	Configs  []model.ObjectKey   `json:"configs,omitempty"`
	Strays   []model.ObjectKey   `json:"strays,omitempty"`
	Mesh     bool                `json:"mesh,omitempty"`
	Networks bool                `json:"networks,omitempty"`
}

type serviceDifference struct {
	Hostname   model.Hostname `json:"hostname"`
	Namespace  string         `json:"namespace"`
	Change     string         `json:"change"`
	Definition bool           `json:"definition,omitempty"`
	Added      int            `json:"added"`
	Removed    int            `json:"removed"`
	Changed    int            `json:"changed"`
	Waiting    int            `json:"waiting,omitempty"`
}

type proxyDifference struct {
	ID       string `json:"id"`
	Change   string `json:"change"`
	Clusters int    `json:"clusters"`
	compare.Counts
}

// states compares two states service by service and proxy by proxy.
func (f *diffFlags) states(w io.Writer, a, b *operand) (differs bool, err error) {
	d := registry.Between(a.content.Snapshot, b.content.Snapshot)
	out := difference{Services: []serviceDifference{}, Proxies: []proxyDifference{}, Configs: d.Configs, Strays: d.Strays, Mesh: d.Mesh, Networks: d.Networks}
	changed := map[model.ServiceKey]bool{}
	for i := range d.Services {
		changed[d.Services[i].Key] = true
		out.Services = append(out.Services, newServiceDifference(&d.Services[i]))
	}
	for p := range compare.Proxies(a.side(), b.side(), changed) {
		out.Proxies = append(out.Proxies, proxyDifference{ID: p.ID, Change: cameOrWent(p.Here != nil, p.There != nil), Clusters: p.Clusters, Counts: p.Counts})
	}
	differs = !d.Empty() || len(out.Proxies) > 0
	if f.out == "json" {
		return differs, printJSON(w, out)
	}
	_, err = io.WriteString(w, printable(out.text()))
	return differs, err
}

func newServiceDifference(c *state.ServiceChange) serviceDifference {
	s := serviceDifference{
		Hostname: c.Key.Hostname, Namespace: c.Key.Namespace, Definition: c.Definition, Change: cameOrWent(c.Prev != nil, c.Next != nil),
	}
	for _, e := range c.Endpoints {
		switch e.Kind() {
		case state.EndpointAdded:
			s.Added++
		case state.EndpointRemoved:
			s.Removed++
		case state.EndpointChanged:
			s.Changed++
		case state.CandidateWaiting:
			s.Waiting++
		}
	}
	return s
}

func cameOrWent(before, after bool) string {
	switch {
	case !before:
		return "came"
	case !after:
		return "went"
	}
	return "changed"
}

func (d *difference) text() string {
	var w strings.Builder
	for _, s := range d.Services {
		fmt.Fprintf(&w, "service %s/%s %s: endpoints +%d −%d ~%d, %d waiting", s.Namespace, s.Hostname, s.Change, s.Added, s.Removed, s.Changed, s.Waiting)
		if s.Definition && s.Change == "changed" {
			w.WriteString(", definition changed")
		}
		w.WriteByte('\n')
	}
	for _, p := range d.Proxies {
		fmt.Fprintf(&w, "proxy %s %s", p.ID, p.Change)
		if p.Change == "changed" {
			fmt.Fprintf(&w, ": clusters %d, endpoints +%d −%d ~%d", p.Clusters, p.OnlyThere, p.OnlyHere, p.Changed)
		}
		w.WriteByte('\n')
	}
	for _, k := range d.Configs {
		fmt.Fprintf(&w, "object %s differs\n", k)
	}
	for _, k := range d.Strays {
		fmt.Fprintf(&w, "slice without a service %s differs\n", k)
	}
	if d.Mesh {
		w.WriteString("the mesh configuration differs\n")
	}
	if d.Networks {
		w.WriteString("the networks or their gateways differ\n")
	}
	fmt.Fprintf(&w, "services that differ: %d, proxies: %d\n", len(d.Services), len(d.Proxies))
	return w.String()
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
