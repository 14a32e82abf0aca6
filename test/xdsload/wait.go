package main

import (
	"context"
	"time"
)

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// until looks at done every so often, and tells whether it came true before end.
func until(ctx context.Context, end time.Time, every time.Duration, done func() bool) bool {
	t := time.NewTicker(every)
	defer t.Stop()
	for !done() {
		if ctx.Err() != nil || !time.Now().Before(end) {
			return false
		}
		select {
		case <-ctx.Done():
		case <-t.C:
		}
	}
	return true
}

// paced calls f n times at the rate per second, without drifting from it.
func paced(ctx context.Context, n int, rate float64, f func(i int)) {
	start := time.Now()
	for i := range n {
		if d := time.Duration(float64(i)/rate*float64(time.Second)) - time.Since(start); d > 0 {
			pause(ctx, d)
		}
		if ctx.Err() != nil {
			return
		}
		f(i)
	}
}
