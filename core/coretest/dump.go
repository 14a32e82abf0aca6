package coretest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// Dump writes everything that a snapshot holds, but for versions and times, as
// text that is equal if the snapshots are.
func Dump(s *state.Snapshot) string {
	var b strings.Builder
	for svc := range s.Services() {
		fmt.Fprintf(&b, "service %s accounts %v\n", svc.Key, svc.ServiceAccounts)
		for _, d := range svc.Definitions {
			fmt.Fprintf(&b, "  definition %s\n", encode(d))
		}
		for _, sh := range svc.Shards {
			fmt.Fprintf(&b, "  shard %s endpoints %d\n", sh.Key, sh.Endpoints)
			for _, c := range sh.Candidates {
				fmt.Fprintf(&b, "    %s\n", dumpCandidate(c))
			}
		}
	}
	for c := range s.Strays() {
		fmt.Fprintf(&b, "stray %s %s\n", c.Source, c.ResourceVersion)
		for _, c := range c.Candidates {
			fmt.Fprintf(&b, "    %s\n", dumpCandidate(c))
		}
	}
	for p := range s.Proxies() {
		fmt.Fprintf(&b, "proxy %s\n", encode(p))
	}
	for c := range s.Configs("") {
		fmt.Fprintf(&b, "config %s@%s %s\n", c.Key, c.Key.Cluster, encode(c.Object))
	}
	for _, g := range s.Gateways() {
		fmt.Fprintf(&b, "gateway %s\n", encode(g))
	}
	fmt.Fprintf(&b, "mesh %s\n", encode(s.Mesh))
	return b.String()
}

func dumpCandidate(c *model.Candidate) string {
	target := "-"
	if c.Target != nil {
		target = c.Target.String()
	}
	return fmt.Sprintf("%s@%s target %s %s %s:%d reason %s %s", c.Source, c.Source.Cluster, target, c.Address, c.PortName, c.Port, c.Reason, encode(c.Endpoint))
}

// encode gives the JSON of a value; maps are in order.
func encode(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		return "unencodable: " + err.Error()
	}
	return string(out)
}
