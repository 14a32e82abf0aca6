package demo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/demo"
)

// event is a cause, and the object as it was when the cause was told.
type event struct {
	source.Cause
	after time.Duration
	text  string
}

// recorder writes down what happens.
type recorder struct {
	mu     sync.Mutex // protects all below
	src    *demo.Demo
	start  time.Time
	events []event
	synced bool
}

func (r *recorder) Dirty(causes ...source.Cause) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range causes {
		if !r.synced {
			continue
		}
		e := event{Cause: c, after: time.Since(r.start), text: text(r.src.Get(c.Key))}
		r.events = append(r.events, e)
	}
}

func (r *recorder) Synced() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.synced, r.start = true, time.Now()
}

func text(o source.Object) string {
	b, err := json.Marshal(o)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// play runs a demo in its own time, and calls look when it is over and at rest.
func play(t *testing.T, o demo.Options, length time.Duration, look func(t *testing.T, d *demo.Demo, events []event)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d, err := demo.New(o)
		if err != nil {
			t.Fatal(err)
		}
		r := &recorder{src: d}
		ctx, cancel := context.WithTimeout(t.Context(), length)
		defer cancel()
		if err := d.Run(ctx, r); err != nil {
			t.Fatal(err)
		}
		if p := d.Status().Problems; len(p) > 0 {
			t.Errorf("problems %v", p)
		}
		look(t, d, r.events)
	})
}

func TestSameSeedSameEvents(t *testing.T) {
	script := func(seed int64) (lines []string) {
		play(t, demo.Options{Seed: seed}, 3*time.Minute, func(_ *testing.T, _ *demo.Demo, events []event) {
			for _, e := range events {
				lines = append(lines, fmt.Sprintf("%v %s %s by %s: %s", e.after, e.Op, e.Key, e.Actor, e.text))
			}
		})
		return lines
	}
	first := script(7)
	if len(first) < 100 {
		t.Fatalf("only %d events", len(first))
	}
	for range 2 {
		if diff := cmp.Diff(first, script(7)); diff != "" {
			t.Fatalf("the same seed gives other events:\n%s", diff)
		}
	}
	if slices.Equal(first, script(8)) {
		t.Error("another seed gives the same events")
	}
}

func TestPace(t *testing.T) {
	const length = 8 * time.Minute
	for seed := range int64(2) {
		play(t, demo.Options{Seed: seed}, length, func(t *testing.T, _ *demo.Demo, events []event) {
			t.Helper()
			perSecond := map[int]int{}
			slicesChanged := 0
			firstSlice := time.Duration(0)
			quiet, last := time.Duration(0), time.Duration(0)
			for _, e := range events {
				perSecond[int(e.after.Seconds())]++
				quiet, last = max(quiet, e.after-last), e.after
				if e.Key.Kind == model.KindEndpointSlice {
					if slicesChanged++; firstSlice == 0 {
						firstSlice = e.after
					}
				}
			}
			busiest := slices.Max(slices.Collect(maps.Values(perSecond)))
			t.Logf("seed %d: %.2f events/s, %.2f of slices, busiest second %d, longest pause %v, first slice at %v",
				seed, float64(len(events))/length.Seconds(), float64(slicesChanged)/length.Seconds(), busiest, quiet, firstSlice)
			if firstSlice > 5*time.Second || events[0].after > time.Second {
				t.Errorf("the first event is at %v, the first slice at %v", events[0].after, firstSlice)
			}
			if rate := float64(len(events)) / length.Seconds(); rate < 0.7 || rate > 1.6 {
				t.Errorf("%.2f events a second", rate)
			}
			if busiest > 8 || quiet > 10*time.Second {
				t.Errorf("busiest second %d, longest pause %v", busiest, quiet)
			}
		})
	}
}

func TestSpeed(t *testing.T) {
	count := func(speed float64, length time.Duration) (n int) {
		play(t, demo.Options{Seed: 1, Speed: speed}, length, func(_ *testing.T, _ *demo.Demo, events []event) { n = len(events) })
		return n
	}
	if slow, fast := count(1, 100*time.Second), count(10, 10*time.Second); slow != fast {
		t.Errorf("%d events, and %d ten times as fast", slow, fast)
	}
}

func TestObjectsAreNotChangedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := demo.New(demo.Options{})
		if err != nil {
			t.Fatal(err)
		}
		k := &keeper{src: d, told: map[source.Object]string{}}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		if err := d.Run(ctx, k); err != nil {
			t.Fatal(err)
		}
		if len(k.told) < 300 {
			t.Errorf("only %d versions of objects", len(k.told))
		}
		for o, before := range k.told {
			if now := text(o); now != before {
				t.Errorf("changed after it was told:\n%s\nnow\n%s", before, now)
			}
		}
	})
}

// keeper keeps every version of every object.
type keeper struct {
	src  *demo.Demo
	told map[source.Object]string
}

func (k *keeper) Dirty(causes ...source.Cause) {
	for _, c := range causes {
		if o := k.src.Get(c.Key); o != nil {
			k.told[o] = text(o)
		}
	}
}
func (k *keeper) Synced() {}

func TestActors(t *testing.T) {
	play(t, demo.Options{Seed: 1}, 5*time.Minute, func(t *testing.T, _ *demo.Demo, events []event) {
		t.Helper()
		seen := map[string]bool{}
		versions := map[model.ObjectKey]int{}
		for _, e := range events {
			seen[string(e.Key.Kind)+" "+e.Actor] = true
			var v int
			if _, err := fmt.Sscan(e.ResourceVersion, &v); err != nil || v <= versions[e.Key] && e.Op != source.OpDelete {
				t.Errorf("%s has version %q after %d (%v)", e.Key, e.ResourceVersion, versions[e.Key], err)
			}
			versions[e.Key] = v
		}
		want := []string{
			"EndpointSlice endpointslice-controller", "EndpointSlice shop-operator",
			"Node kubelet", "Node node-lifecycle-controller",
			"Pod deployment-controller", "Pod kube-scheduler", "Pod kubelet", "Pod node-lifecycle-controller",
			"VirtualService shop-operator",
		}
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(seen))); diff != "" {
			t.Errorf("actors (-want +got):\n%s", diff)
		}
	})
}
