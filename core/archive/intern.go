package archive

import (
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// interner fills the table of one record.
type interner struct {
	table
	redact     *redactor
	objects    map[model.ObjectKey]int
	workloads  map[*model.Workload]int
	candidates map[*model.Candidate]int
}

func newInterner(r *redactor) *interner {
	return &interner{
		redact:  r,
		objects: map[model.ObjectKey]int{}, workloads: map[*model.Workload]int{}, candidates: map[*model.Candidate]int{},
	}
}

func (in *interner) object(k *model.ObjectKey) *int {
	if k == nil {
		return nil
	}
	i, ok := in.objects[*k]
	if !ok {
		i = len(in.Objects)
		in.objects[*k] = i
		in.Objects = append(in.Objects, *k)
	}
	return &i
}

func (in *interner) workload(w *model.Workload) int {
	i, ok := in.workloads[w]
	if !ok {
		i = len(in.Workloads)
		in.workloads[w] = i
		if labels, changed := in.redact.labels(w.Labels); changed {
			c := *w
			c.Labels = labels
			w = &c
		}
		in.Workloads = append(in.Workloads, w)
	}
	return i
}

func (in *interner) candidate(c *model.Candidate) *int {
	if c == nil {
		return nil
	}
	i, ok := in.candidates[c]
	if !ok {
		i = len(in.Candidates)
		in.candidates[c] = i
		in.Candidates = append(in.Candidates, in.candidateRecord(c))
	}
	return &i
}

func (in *interner) candidateRecord(c *model.Candidate) candidateRecord {
	r := candidateRecord{
		Source: in.object(c.Source), Target: in.object(c.Target),
		Address: c.Address, PortName: c.PortName, Port: c.Port,
	}
	if c.Reason != model.ReasonNone {
		r.Reason = c.Reason.String()
	}
	if e := c.Endpoint; e != nil {
		r.Endpoint = &endpointRecord{Workload: in.workload(e.Workload), Settings: *e}
		r.Endpoint.Settings.Workload = nil
	}
	return r
}

func (in *interner) indices(cs []*model.Candidate) []int {
	out := make([]int, len(cs))
	for i, c := range cs {
		out[i] = *in.candidate(c)
	}
	return out
}

func (in *interner) chunk(c *state.Chunk) chunkRecord {
	return chunkRecord{Source: c.Source, ResourceVersion: c.ResourceVersion, Candidates: in.indices(c.Candidates)}
}

func (in *interner) shards(shards []*state.Shard) []shardRecord {
	out := make([]shardRecord, len(shards))
	for i, s := range shards {
		out[i] = shardRecord{Provider: s.Key.Provider, Cluster: s.Key.Cluster}
		for _, c := range s.Chunks {
			out[i].Chunks = append(out[i].Chunks, in.chunk(c))
		}
		out[i].Candidates = in.indices(s.Candidates)
	}
	return out
}
