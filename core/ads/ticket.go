package ads

import (
	"time"

	"github.com/edsight/edsight/core/journal"
)

// tracked is the delivery of a transition, and when this happened.
type tracked struct {
	delivery *journal.Delivery
	times    journal.Times
}

// ticket follows one transition on one stream until the proxy has answered all
// messages that carry it.
type ticket struct {
	tracked
	// open is the number of messages without answer.
	open int
	// pending tells that something of it may still have to be sent.
	pending  bool
	sent     bool
	rejected *journal.Rejection
}

func (t *ticket) send(at time.Time) {
	t.open++
	if !t.sent {
		t.sent = true
		t.delivery.Sent(at)
	}
}

// answer takes the answer to one message.
func (t *ticket) answer(at time.Time, rejected *journal.Rejection) {
	t.open--
	if rejected != nil {
		t.rejected = rejected
	}
	t.settle(at)
}

// settle closes the ticket if nothing is left to be done.
func (t *ticket) settle(at time.Time) {
	switch {
	case t.pending || t.open > 0:
	case !t.sent:
		t.delivery.Unchanged(at)
	case t.rejected != nil:
		t.delivery.Rejected(*t.rejected)
	default:
		t.delivery.Acked(at)
	}
}

// abandon waits for no message but those on the way.
func (t *ticket) abandon(at time.Time) {
	t.pending = false
	if t.sent {
		t.settle(at)
		return
	}
	t.delivery.Left(at, false)
}
