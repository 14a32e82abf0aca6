package journal

import (
	"sync"
	"time"
)

// maxRejections bounds the refusals that a delivery names.
const maxRejections = 16

// Delivery is how far a transition got: to how many streams it had to go, and what
// these did with it. It lives beside the transition, which is immutable. Its
// methods may be called concurrently.
type Delivery struct {
	mu     sync.Mutex // protects counts
	counts Delivered
}

// Delivered are the counts of a Delivery. Each affected stream is counted once in
// one of the others when it is done, or is still waiting.
type Delivered struct {
	// Affected is the number of streams whose scope holds something of the change.
	Affected int `json:"affected"`
	// Sent counts messages on their way, not acknowledged yet.
	Sent int `json:"sent"`
	// Acked and Rejected count the answers; Unchanged the streams to which nothing
	// had to be sent, as they had the same content or do not ask for it; Left those
	// that ended before.
	Acked     int `json:"acked"`
	Rejected  int `json:"rejected"`
	Unchanged int `json:"unchanged"`
	Left      int `json:"left"`
	// FirstSent and Done are the moments of the first message, and of the last
	// answer when nobody is waited for.
	FirstSent  time.Time   `json:"firstSent,omitzero"`
	Done       time.Time   `json:"done,omitzero"`
	Rejections []Rejection `json:"rejections,omitempty"`
}

// Rejection is the refusal of one proxy.
type Rejection struct {
	Proxy   string    `json:"proxy"`
	Type    string    `json:"type"`
	Message string    `json:"message"`
	Time    time.Time `json:"time"`
}

// Waiting is the number of streams which are not done.
func (d *Delivered) Waiting() int {
	return d.Affected - d.Acked - d.Rejected - d.Unchanged - d.Left
}

// Counts returns the present counts.
func (d *Delivery) Counts() Delivered {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.counts
	c.Rejections = append([]Rejection(nil), c.Rejections...)
	return c
}

// Affects adds streams to which the transition has to go. All others may have answered
// already.
func (d *Delivery) Affects(streams int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.counts.Affected += streams
	d.counts.Done = time.Time{}
}

// Sent notes that a message with the change was sent.
func (d *Delivery) Sent(at time.Time) {
	d.update(func(c *Delivered) {
		c.Sent++
		if c.FirstSent.IsZero() {
			c.FirstSent = at
		}
	}, at)
}

// Acked notes that such a message was acknowledged.
func (d *Delivery) Acked(at time.Time) {
	d.update(func(c *Delivered) { c.Sent--; c.Acked++ }, at)
}

// Rejected notes that such a message was refused.
func (d *Delivery) Rejected(r Rejection) {
	d.update(func(c *Delivered) {
		c.Sent--
		c.Rejected++
		if len(c.Rejections) < maxRejections {
			c.Rejections = append(c.Rejections, r)
		}
	}, r.Time)
}

// Unchanged notes that a stream needed no message.
func (d *Delivery) Unchanged(at time.Time) {
	d.update(func(c *Delivered) { c.Unchanged++ }, at)
}

// Left notes that a stream ended, before or after a message was sent to it.
func (d *Delivery) Left(at time.Time, sent bool) {
	d.update(func(c *Delivered) {
		c.Left++
		if sent {
			c.Sent--
		}
	}, at)
}

func (d *Delivery) update(f func(*Delivered), at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f(&d.counts)
	if d.counts.Waiting() == 0 {
		d.counts.Done = at
	}
}
