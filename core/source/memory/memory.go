// Package memory is a Source whose objects are put in by calls: scenarios,
// tests and embedded meshes write to it as a cluster would be written to.
package memory

import (
	"context"
	"iter"
	"maps"
	"sync"
	"time"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
)

// Store holds objects in memory. The zero value is not usable; see New.
type Store struct {
	name string
	now  func() time.Time

	mu      sync.RWMutex // protects all below
	objects map[model.ObjectKey]source.Object
	sink    source.Sink
	last    map[model.ClusterID]time.Time
}

// New returns an empty store. Name is what Status shows.
func New(name string, now func() time.Time) *Store {
	return &Store{
		name: name, now: now,
		objects: map[model.ObjectKey]source.Object{}, last: map[model.ClusterID]time.Time{},
	}
}

// Put stores an object, which must not be changed afterwards, and tells the sink.
func (s *Store) Put(key model.ObjectKey, o source.Object) {
	s.mu.Lock()
	op := source.OpAdd
	if _, ok := s.objects[key]; ok {
		op = source.OpUpdate
	}
	s.objects[key] = o
	sink, cause := s.noteLocked(key, op, o)
	s.mu.Unlock()
	if sink != nil {
		sink.Dirty(cause)
	}
}

// Delete removes an object and tells the sink. It tells whether it was there.
func (s *Store) Delete(key model.ObjectKey) bool {
	s.mu.Lock()
	o, ok := s.objects[key]
	if !ok {
		s.mu.Unlock()
		return false
	}
	delete(s.objects, key)
	sink, cause := s.noteLocked(key, source.OpDelete, o)
	s.mu.Unlock()
	if sink != nil {
		sink.Dirty(cause)
	}
	return true
}

func (s *Store) noteLocked(key model.ObjectKey, op source.Op, o source.Object) (source.Sink, source.Cause) {
	now := s.now()
	s.last[key.Cluster] = now
	return s.sink, source.Cause{Key: key, Op: op, ResourceVersion: o.GetResourceVersion(), Actor: source.Actor(o), Seen: now}
}

// Attach tells sink of every object, and from then on of each change. Run is
// Attach and a wait.
func (s *Store) Attach(sink source.Sink) {
	s.mu.Lock()
	s.sink = sink
	causes := make([]source.Cause, 0, len(s.objects))
	for k, o := range s.objects {
		causes = append(causes, source.Cause{Key: k, Op: source.OpAdd, ResourceVersion: o.GetResourceVersion(), Actor: source.Actor(o), Seen: s.now()})
	}
	s.mu.Unlock()
	sink.Dirty(causes...)
	sink.Synced()
}

// Run implements source.Source.
func (s *Store) Run(ctx context.Context, sink source.Sink) error {
	s.Attach(sink)
	<-ctx.Done()
	return nil
}

// Get implements source.Source.
func (s *Store) Get(key model.ObjectKey) source.Object {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.objects[key]
}

// All implements source.Source. It iterates over a copy.
func (s *Store) All() iter.Seq2[model.ObjectKey, source.Object] {
	s.mu.RLock()
	c := maps.Clone(s.objects)
	s.mu.RUnlock()
	return maps.All(c)
}

// Status implements source.Source.
func (s *Store) Status() source.Status {
	s.mu.RLock()
	defer s.mu.RUnlock()
	st := source.Status{Name: s.name}
	for id, at := range s.last {
		st.Clusters = append(st.Clusters, source.ClusterStatus{ID: id, Sync: "synced", Connected: true, LastEvent: at})
	}
	source.SortClusters(st.Clusters)
	return st
}
