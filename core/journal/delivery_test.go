package journal_test

import (
	"testing"
	"time"

	"github.com/edsight/edsight/core/journal"
)

// TestDoneIsTakenBack has the first streams answer before the others are counted.
func TestDoneIsTakenBack(t *testing.T) {
	var d journal.Delivery
	d.Affects(1)
	d.Unchanged(time.Unix(1, 0))
	if c := d.Counts(); c.Waiting() != 0 || !c.Done.Equal(time.Unix(1, 0)) {
		t.Errorf("with one answer of one: %+v", c)
	}
	d.Affects(2)
	if c := d.Counts(); c.Waiting() != 2 || !c.Done.IsZero() {
		t.Errorf("with two more to wait for: %+v", c)
	}
	d.Sent(time.Unix(2, 0))
	d.Acked(time.Unix(3, 0))
	if c := d.Counts(); c.Waiting() != 1 || !c.Done.IsZero() {
		t.Errorf("with one to wait for: %+v", c)
	}
	d.Left(time.Unix(4, 0), false)
	if c := d.Counts(); c.Waiting() != 0 || !c.Done.Equal(time.Unix(4, 0)) {
		t.Errorf("in the end: %+v", c)
	}
}
