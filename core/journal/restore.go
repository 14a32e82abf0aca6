package journal

// Restore returns a journal of just these transitions, whose sequence numbers have to
// follow each other.
func Restore(list []*Transition) *Journal {
	j := New(len(list))
	for _, t := range list {
		at := t.Seq % uint64(len(j.ring))
		j.ring[at], j.deliveries[at] = t, &Delivery{}
		j.last = t.Seq
	}
	return j
}
