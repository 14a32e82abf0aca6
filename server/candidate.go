package server

import (
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// candidateJSON is a candidate as programs get it.
type candidateJSON struct {
	Address  string           `json:"address"`
	Port     uint32           `json:"port"`
	PortName string           `json:"portName"`
	Source   *model.ObjectKey `json:"source,omitempty"`
	Target   *model.ObjectKey `json:"target,omitempty"`
	// Reason for which it is not in the shard, "" if it is.
	Reason     string `json:"reason,omitempty"`
	ReasonText string `json:"reasonText,omitempty"`
	Remedy     string `json:"remedy,omitempty"`
	// The rest is of the endpoint in the shard.
	Health   string          `json:"health,omitempty"`
	Weight   uint32          `json:"weight,omitempty"`
	Workload string          `json:"workload,omitempty"`
	Locality string          `json:"locality,omitempty"`
	Network  model.NetworkID `json:"network,omitempty"`
	Node     string          `json:"node,omitempty"`
}

func newCandidate(c *model.Candidate) *candidateJSON {
	if c == nil {
		return nil
	}
	j := &candidateJSON{Address: c.Address, Port: c.Port, PortName: c.PortName, Source: c.Source, Target: c.Target}
	if c.Reason != model.ReasonNone {
		j.Reason, j.ReasonText, j.Remedy = c.Reason.String(), c.Reason.Text(), c.Reason.Remedy()
	}
	if e := c.Endpoint; e != nil {
		j.Health, j.Weight = e.Health.String(), e.Weight
		if w := e.Workload; w != nil {
			j.Workload, j.Locality, j.Network, j.Node = w.Name, w.Locality.String(), w.Network, w.Node
		}
	}
	return j
}

// shardJSON is a shard with all its candidates, by the object they come from.
type shardJSON struct {
	Shard     string      `json:"shard"`
	Endpoints int         `json:"endpoints"`
	Chunks    []chunkJSON `json:"sources"`
}

type chunkJSON struct {
	Source          model.ObjectKey  `json:"source"`
	ResourceVersion string           `json:"resourceVersion,omitempty"`
	Candidates      []*candidateJSON `json:"candidates"`
}

// newShard takes the candidates of the shard and not those of its chunks, as
// only there the duplicates are marked.
func newShard(sh *state.Shard) shardJSON {
	j := shardJSON{Shard: sh.Key.String(), Endpoints: sh.Endpoints, Chunks: []chunkJSON{}}
	rest := sh.Candidates
	for _, c := range sh.Chunks {
		n := min(len(c.Candidates), len(rest))
		part := chunkJSON{Source: c.Source, ResourceVersion: c.ResourceVersion, Candidates: make([]*candidateJSON, n)}
		for i, cand := range rest[:n] {
			part.Candidates[i] = newCandidate(cand)
		}
		j.Chunks, rest = append(j.Chunks, part), rest[n:]
	}
	return j
}
