package state

import (
	"iter"

	"github.com/edsight/edsight/core/model"
)

// ServiceState is all that is known of one host in one namespace: its
// definitions and, per shard, its candidates. A slice may be there before its
// Service; then there are candidates and no definition.
type ServiceState struct {
	Key model.ServiceKey
	// Version is that of the snapshot in which this state appeared first.
	Version uint64
	// Definitions, the one that counts first: Kubernetes before ServiceEntries,
	// these by age.
	Definitions []*model.Service
	// Shards by key. A shard may be there without endpoints.
	Shards []*Shard
	// ServiceAccounts of all endpoints, sorted.
	ServiceAccounts []string
}

// Shard is what one provider in one cluster contributes.
type Shard struct {
	Key    model.ShardKey
	Chunks []*Chunk
	// Candidates of all chunks in order, duplicates marked as such.
	Candidates []*model.Candidate
	// Endpoints is the number of admitted candidates.
	Endpoints int
}

// Chunk is what one slice (or other object) contributes. It is reused as long
// as nothing that it was made from changes.
type Chunk struct {
	Source          model.ObjectKey
	ResourceVersion string
	Candidates      []*model.Candidate
}

// Definition returns the definition that counts, or nil.
func (s *ServiceState) Definition() *model.Service {
	if s == nil || len(s.Definitions) == 0 {
		return nil
	}
	return s.Definitions[0]
}

// Candidates iterates over all candidates, shard by shard. The index counts
// from 0 over all shards; verdicts of a view are parallel to it.
func (s *ServiceState) Candidates() iter.Seq2[int, *model.Candidate] {
	return func(yield func(int, *model.Candidate) bool) {
		if s == nil {
			return
		}
		i := 0
		for _, sh := range s.Shards {
			for _, c := range sh.Candidates {
				if !yield(i, c) {
					return
				}
				i++
			}
		}
	}
}

// CandidateCount returns the number of candidates in all shards.
func (s *ServiceState) CandidateCount() int {
	n := 0
	if s != nil {
		for _, sh := range s.Shards {
			n += len(sh.Candidates)
		}
	}
	return n
}

// EndpointCount returns the number of admitted candidates in all shards.
func (s *ServiceState) EndpointCount() int {
	n := 0
	if s != nil {
		for _, sh := range s.Shards {
			n += sh.Endpoints
		}
	}
	return n
}
