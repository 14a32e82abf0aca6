package demo

import (
	"slices"
	"time"
)

// plan is what is going to happen. It counts its own time.
type plan struct {
	now   time.Duration
	steps []step // by time; steps of one time in the order in which they were made
}

type step struct {
	at time.Duration
	do func()
}

// after plans a step.
func (p *plan) after(delay time.Duration, do func()) {
	at := p.now + delay
	i, _ := slices.BinarySearchFunc(p.steps, at, func(s step, at time.Duration) int {
		if s.at <= at {
			return -1
		}
		return 1
	})
	p.steps = slices.Insert(p.steps, i, step{at, do})
}

// next takes the next step, and tells how long it is until then. There always is
// one, as scenes plan their successors.
func (p *plan) next() (wait time.Duration, do func()) {
	s := p.steps[0]
	p.steps = p.steps[1:]
	wait, p.now = s.at-p.now, s.at
	return wait, s.do
}
