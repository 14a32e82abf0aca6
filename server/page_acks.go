package server

import (
	"math"
	"slices"
	"strconv"

	"github.com/edsight/edsight/core/model"
	xds "github.com/edsight/edsight/core/session"
	"github.com/edsight/edsight/core/state"
)

// acks is how far a group of proxies got with its endpoints.
type acks struct {
	// missing counts those that have no stream, while others have.
	missing int
	// late are the versions of the state that those acknowledged last who owe an
	// answer, or refused what came after; 0 for one that never acknowledged.
	late []uint64
	// rejected counts those among the late that refused.
	rejected int
}

// acksOf looks at the newest stream of each proxy.
func acksOf(members []*model.Proxy, streams connected) acks {
	var a acks
	if streams.total == 0 {
		return a // a model has nothing to acknowledge
	}
	for _, p := range members {
		list := streams.byProxy[p.ID]
		if len(list) == 0 {
			a.missing++
			continue
		}
		for i := range list[len(list)-1].Types {
			t := &list[len(list)-1].Types[i]
			status := t.Status()
			if typeName(t.URL) != "EDS" || (status != xds.Stale && status != xds.Error) {
				continue // of another type, or up to date
			}
			version, _ := strconv.ParseUint(t.Acked.Version, 10, 64) // 0 before the first
			a.late = append(a.late, version)
			if status == xds.Error {
				a.rejected++
			}
		}
	}
	return a
}

// before counts those who have not acknowledged a version.
func (a acks) before(version uint64) int {
	n := 0
	for _, acked := range a.late {
		if acked < version {
			n++
		}
	}
	return n
}

// changes are the versions at which what proxies get of a service changed last.
type changes struct {
	// all is that of the last change which may concern every endpoint.
	all   uint64
	their map[endpointPort]uint64
}

type endpointPort struct {
	address, name string
	port          uint32
}

func portOf(c *model.Candidate) endpointPort { return endpointPort{c.Address, c.PortName, c.Port} }

// of is the version at which a candidate changed last, 0 if that is not in memory.
func (c changes) of(x *model.Candidate) uint64 { return max(c.all, c.their[portOf(x)]) }

// changesOf reads the journal from the newest transition on.
func (s *Server) changesOf(key model.ServiceKey) changes {
	c := changes{their: map[endpointPort]uint64{}}
	for _, t := range slices.Backward(s.core.Journal().Since(1, math.MaxInt).Transitions) {
		if c.all == 0 && t.Push.Scope.Type == state.PushFull && (len(t.Diff.Configs) > 0 || t.Diff.Mesh || t.Diff.Networks) {
			c.all = t.Version
		}
		for i := range t.Diff.Services {
			if d := &t.Diff.Services[i]; d.Key == key {
				c.note(d, t.Version)
			}
		}
	}
	return c
}

// note keeps the newest version, which comes first.
func (c *changes) note(d *state.ServiceChange, version uint64) {
	if c.all == 0 && d.Definition {
		c.all = version
	}
	for _, e := range d.Endpoints {
		for _, x := range []*model.Candidate{e.Before, e.After} {
			if x != nil && c.their[portOf(x)] == 0 {
				c.their[portOf(x)] = version
			}
		}
	}
}
