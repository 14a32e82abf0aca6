package ads

import (
	"context"
	"sync/atomic"
	"time"
)

// round is the sending of one piece of news to all streams that it concerns. It ends when
// nearly all of them have been sent it, or after mostRound. Changes that come meanwhile
// are merged in the next. Streams that are late are not waited for.
type round struct {
	left atomic.Int64
	done chan struct{} // closed when nothing is left
}

const (
	mostRound = 60 * time.Millisecond
	// lateAfter is how long a client may take for an answer until its stream is late.
	lateAfter = time.Second
)

// newRound waits for nine of ten streams.
func newRound(streams int) *round {
	r := &round{done: make(chan struct{})}
	r.left.Store(int64(streams - streams/10))
	if streams == 0 {
		close(r.done)
	}
	return r
}

// served notes that one of the streams has been sent everything.
func (r *round) served() {
	if r != nil && r.left.Add(-1) == 0 {
		close(r.done)
	}
}

// wait returns when the next round may begin: when this one has ended, and as long
// again. Who makes the changes and who takes them needs the machine too.
func (r *round) wait(ctx context.Context) {
	began := time.Now()
	limit := time.NewTimer(mostRound)
	defer limit.Stop()
	select {
	case <-r.done:
	case <-limit.C:
	case <-ctx.Done():
		return
	}
	pause := time.NewTimer(time.Since(began))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
	}
}

// turn is a stream's part in rounds.
type turn struct {
	// round is the last that the stream knows of and has not served.
	round *round
	// since when, in Unix nanoseconds, it has had something to send without an answer; 0
	// if it has nothing.
	since atomic.Int64
}

// begin notes that there may be something to send.
func (t *turn) begin(now time.Time, r *round) {
	t.since.CompareAndSwap(0, now.UnixNano())
	if r != nil {
		t.round = r
	}
}

// answered notes that the client goes on.
func (t *turn) answered(now time.Time) {
	if t.since.Load() != 0 {
		t.since.Store(now.UnixNano())
	}
}

// end notes that everything is sent.
func (t *turn) end() {
	t.since.Store(0)
	t.round.served()
	t.round = nil
}

// late tells whether the client has long not read, or not answered, while there is
// something to send. Any goroutine may ask.
func (t *turn) late(now time.Time) bool {
	since := t.since.Load()
	return since != 0 && now.Sub(time.Unix(0, since)) > lateAfter
}
