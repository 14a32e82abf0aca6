package journal

import (
	"context"
	"sync"
)

// Journal is a bounded ring of transitions.
type Journal struct {
	mu   sync.Mutex // protects all below
	ring []*Transition
	// deliveries are parallel to ring.
	deliveries []*Delivery
	last       uint64        // Seq of the newest, 0 before the first
	news       chan struct{} // closed and replaced at each Append
}

// Gap says which transitions a reader asked for and can no longer get.
type Gap struct {
	From uint64 `json:"from"` // first missing
	To   uint64 `json:"to"`   // last missing
}

// Batch is what a reader gets: transitions in order, and where to go on.
type Batch struct {
	Transitions []*Transition
	// Next is the Seq to ask for next time.
	Next uint64
	// Gap is set if transitions before the first were lost to this reader.
	Gap *Gap
}

// New returns a journal that keeps the last size transitions; size is at least 1.
func New(size int) *Journal {
	size = max(size, 1)
	return &Journal{ring: make([]*Transition, size), deliveries: make([]*Delivery, size), news: make(chan struct{})}
}

// Append gives t the next sequence number and stores it. Only the writer calls it.
func (j *Journal) Append(t *Transition) {
	j.mu.Lock()
	j.last++
	t.Seq = j.last
	at := j.last % uint64(len(j.ring))
	j.ring[at], j.deliveries[at] = t, &Delivery{}
	news := j.news
	j.news = make(chan struct{})
	j.mu.Unlock()
	close(news)
}

// Last returns the newest sequence number, 0 if there is none.
func (j *Journal) Last() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.last
}

// Get returns one transition, or nil if it is not there (any more).
func (j *Journal) Get(seq uint64) *Transition {
	j.mu.Lock()
	defer j.mu.Unlock()
	if seq == 0 || seq > j.last || seq < j.oldestLocked() {
		return nil
	}
	return j.ring[seq%uint64(len(j.ring))]
}

// Delivery returns how far a transition got, or nil if the transition is not there
// (any more).
func (j *Journal) Delivery(seq uint64) *Delivery {
	j.mu.Lock()
	defer j.mu.Unlock()
	if seq == 0 || seq > j.last || seq < j.oldestLocked() {
		return nil
	}
	return j.deliveries[seq%uint64(len(j.ring))]
}

// Since returns at most limit transitions from Seq from on (0 counts as 1). A
// from beyond the newest, as after a restart, starts again at the oldest and
// says so with a Gap whose To is before its From.
func (j *Journal) Since(from uint64, limit int) Batch {
	j.mu.Lock()
	defer j.mu.Unlock()
	b := Batch{Next: max(from, 1)}
	oldest := j.oldestLocked()
	switch {
	case b.Next > j.last+1:
		b.Gap = &Gap{From: b.Next, To: j.last}
		b.Next = oldest
	case b.Next < oldest:
		b.Gap = &Gap{From: b.Next, To: oldest - 1}
		b.Next = oldest
	}
	if b.Next <= j.last {
		b.Transitions = make([]*Transition, 0, min(uint64(limit), j.last-b.Next+1)) //nolint:gosec // limits are not negative
	}
	for b.Next <= j.last && len(b.Transitions) < limit {
		b.Transitions = append(b.Transitions, j.ring[b.Next%uint64(len(j.ring))])
		b.Next++
	}
	return b
}

// Wait returns when there is a transition with Seq from or later, or ctx is done.
func (j *Journal) Wait(ctx context.Context, from uint64) error {
	for {
		j.mu.Lock()
		last, news := j.last, j.news
		j.mu.Unlock()
		if last >= from {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (j *Journal) oldestLocked() uint64 {
	if size := uint64(len(j.ring)); j.last > size {
		return j.last - size + 1
	}
	return 1
}
