package archive

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// restored is a table whose indices have been checked.
type restored struct {
	record     *table
	candidates []*model.Candidate
}

var errIndex = errors.New("an index points outside its table")

func at[T any](list []T, i int) (*T, error) {
	if i < 0 || i >= len(list) {
		return nil, errIndex
	}
	return &list[i], nil
}

func (d *reader) table(r *table) (*restored, error) {
	if slices.Contains(r.Workloads, nil) {
		return nil, errors.New("a workload is null")
	}
	t := &restored{record: r, candidates: make([]*model.Candidate, len(r.Candidates))}
	for i := range r.Candidates {
		c, err := d.candidate(r, &r.Candidates[i])
		if err != nil {
			return nil, fmt.Errorf("candidate %d: %w", i, err)
		}
		t.candidates[i] = c
	}
	return t, nil
}

func (d *reader) candidate(t *table, r *candidateRecord) (*model.Candidate, error) {
	reason, ok := d.reasons[r.Reason]
	if !ok {
		return nil, fmt.Errorf("reason %q is unknown", r.Reason)
	}
	c := &model.Candidate{Address: r.Address, PortName: r.PortName, Port: r.Port, Reason: reason}
	var err error
	if r.Source != nil {
		if c.Source, err = at(t.Objects, *r.Source); err != nil {
			return nil, err
		}
	}
	if r.Target != nil {
		if c.Target, err = at(t.Objects, *r.Target); err != nil {
			return nil, err
		}
	}
	if (reason == model.ReasonNone) != (r.Endpoint != nil) {
		return nil, errors.New("it has neither an endpoint nor a reason, or both")
	}
	if r.Endpoint != nil {
		if c.Endpoint, err = endpoint(t, r.Endpoint); err != nil {
			return nil, err
		}
	}
	// Who reads candidates counts on these.
	if c.Source == nil {
		c.Source = &model.ObjectKey{}
	}
	if c.Target == nil && (reason == model.ReasonPodNotSeen || reason == model.ReasonPodGone) {
		c.Target = &model.ObjectKey{}
	}
	return c, nil
}

func endpoint(t *table, r *endpointRecord) (*model.Endpoint, error) {
	w, err := at(t.Workloads, r.Workload)
	if err != nil {
		return nil, err
	}
	e := r.Settings
	if e.Health < model.HealthUnset || e.Health > model.Terminating {
		return nil, fmt.Errorf("health %d is unknown", e.Health)
	}
	e.Workload = *w
	return &e, nil
}

func (t *restored) list(indices []int) ([]*model.Candidate, error) {
	var out []*model.Candidate
	for _, i := range indices {
		c, err := at(t.candidates, i)
		if err != nil {
			return nil, err
		}
		out = append(out, *c)
	}
	return out, nil
}

func (t *restored) chunk(r *chunkRecord) (*state.Chunk, error) {
	cs, err := t.list(r.Candidates)
	return &state.Chunk{Source: r.Source, ResourceVersion: r.ResourceVersion, Candidates: cs}, err
}

func (t *restored) shard(r *shardRecord) (*state.Shard, error) {
	s := &state.Shard{Key: model.ShardKey{Provider: r.Provider, Cluster: r.Cluster}}
	for i := range r.Chunks {
		c, err := t.chunk(&r.Chunks[i])
		if err != nil {
			return nil, fmt.Errorf("shard %s: %s: %w", s.Key, r.Chunks[i].Source, err)
		}
		s.Chunks = append(s.Chunks, c)
	}
	var err error
	if s.Candidates, err = t.list(r.Candidates); err != nil {
		return nil, fmt.Errorf("shard %s: %w", s.Key, err)
	}
	for _, c := range s.Candidates {
		if c.Endpoint != nil {
			s.Endpoints++
		}
	}
	return s, nil
}

func (d *reader) transition(r *transitionRecord) error {
	if err := d.follows(r.Seq); err != nil {
		return err
	}
	t, err := d.table(&r.table)
	if err != nil {
		return fmt.Errorf("transition %d: %w", r.Seq, err)
	}
	if slices.Contains(r.Proxies, nil) {
		return fmt.Errorf("transition %d: a proxy's change is null", r.Seq)
	}
	push, err := pushType(r.Push.Type)
	if err != nil {
		return fmt.Errorf("transition %d: %w", r.Seq, err)
	}
	diff := &state.Diff{Configs: r.Configs, Strays: r.Strays, Mesh: r.Mesh, Networks: r.Networks}
	for _, p := range r.Proxies {
		if p.Prev == nil && p.Next == nil {
			return fmt.Errorf("transition %d: the change of proxy %s has neither a state before nor one after", r.Seq, p.ID)
		}
		diff.Proxies = append(diff.Proxies, *p)
	}
	for i := range r.Services {
		c, err := t.serviceChange(&r.Services[i])
		if err != nil {
			return fmt.Errorf("transition %d: service %s: %w", r.Seq, r.Services[i].Key, err)
		}
		diff.Services = append(diff.Services, c)
	}
	d.content.Transitions = append(d.content.Transitions, &journal.Transition{
		Seq: r.Seq, Version: r.Version, Causes: r.Causes, Times: r.Times, Diff: diff,
		Push: journal.Push{
			Scope: state.PushScope{Type: push, Services: r.Push.Services}, Again: r.Push.Again,
			Triggers: r.Push.Triggers, Proxies: r.Push.Proxies, Because: r.Push.Because,
		},
	})
	return nil
}

// follows tells whether a sequence number is that of the next transition.
func (d *reader) follows(seq uint64) error {
	if seq == 0 || seq > math.MaxInt64 {
		return fmt.Errorf("%w: transition %d: there is no such number", ErrFormat, seq)
	}
	if n := len(d.content.Transitions); n > 0 && seq != d.content.Transitions[n-1].Seq+1 {
		return fmt.Errorf("%w: transition %d follows %d", ErrFormat, seq, d.content.Transitions[n-1].Seq)
	}
	return nil
}

func pushType(s string) (state.PushType, error) {
	for _, t := range []state.PushType{state.PushNone, state.PushIncremental, state.PushFull} {
		if t.String() == s {
			return t, nil
		}
	}
	return state.PushNone, fmt.Errorf("push type %q is unknown", s)
}

func (t *restored) serviceChange(r *serviceChange) (state.ServiceChange, error) {
	c := state.ServiceChange{Key: r.Key, Definition: r.Definition, Servers: r.Servers}
	if r.Came && r.Went {
		return c, errors.New("its change has neither a state before nor one after")
	}
	if !r.Came {
		c.Prev = &state.ServiceState{Key: r.Key}
	}
	if !r.Went {
		c.Next = &state.ServiceState{Key: r.Key}
	}
	for _, ec := range r.Endpoints {
		if ec.Before == nil && ec.After == nil {
			return c, errors.New("a change of an endpoint has neither a state before nor one after")
		}
		e := state.EndpointChange{Shard: model.ShardKey{Provider: ec.Provider, Cluster: ec.Cluster}}
		for _, side := range []struct {
			index *int
			to    **model.Candidate
		}{{ec.Before, &e.Before}, {ec.After, &e.After}} {
			if side.index == nil {
				continue
			}
			cand, err := at(t.candidates, *side.index)
			if err != nil {
				return c, err
			}
			*side.to = *cand
		}
		c.Endpoints = append(c.Endpoints, e)
	}
	return c, nil
}
