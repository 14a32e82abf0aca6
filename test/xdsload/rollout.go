package main

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// rollout replaces the pods of one service one by one: new pod (other labels), ready, the slice with the
// new instead of the old endpoint, a label on the old pod, the old pod deleted.
func (r *runner) rollout(ctx context.Context) *Result {
	res := &Result{Scenario: "rollout", Clients: len(r.f.cs)}
	sv := r.w.svcs[r.w.t.Services]
	version := "v" + strconv.FormatInt(time.Now().Unix()%100000, 10)
	type pos struct{ si, ei int }
	var todo []pos
	for si, sl := range sv.slices {
		for ei := range sl.eps {
			todo = append(todo, pos{si, ei})
		}
	}
	jobs := make(chan pos, len(todo))
	var wg sync.WaitGroup
	var lastN, podErrs atomic.Int64
	c0, s := r.counters(), newSampler(r.pid, r.others)
	for i := 0; i < 4; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for p := range jobs {
				serial := atomic.AddUint32(&r.w.nextRoll, 1) - 1
				e := rolloutEp(r.w.t, serial)
				if err := createPod(ctx, r.k, mkPod(e.pod, sv.ns, "rollout", version, e.node, e.ip), e.ip); err != nil {
					podErrs.Add(1)
					logf("rollout: %v", err)
				}
				var old string
				u := r.w.change(ctx, sv, p.si, len(r.f.cs), func(sl *slice) {
					old = sl.eps[p.ei].pod
					sl.eps[p.ei] = e
				})
				for t := u.sent.UnixNano(); ; {
					o := lastN.Load()
					if o >= t || lastN.CompareAndSwap(o, t) {
						break
					}
				}
				if err := r.w.patchLabel(ctx, sv.ns, old, "going", "true"); err != nil {
					podErrs.Add(1)
				}
				if err := r.k.CoreV1().Pods(sv.ns).Delete(ctx, old, metav1.DeleteOptions{GracePeriodSeconds: ptr(int64(0))}); err != nil && !isNotFound(err) {
					podErrs.Add(1)
					logf("rollout: %v", err)
				}
			}
		}()
	}
	start := time.Now()
	for i, p := range todo {
		if d := time.Duration(float64(i)/r.rollRate*1e9) - time.Since(start); d > 0 {
			time.Sleep(d)
		}
		jobs <- p
	}
	close(jobs)
	wg.Wait()
	took := time.Since(start).Seconds()
	r.finish(res, c0, s, time.Unix(0, lastN.Load()))
	res.RateDone = float64(res.Updates) / took
	res.Failed += int(podErrs.Load())
	res.Note = "latency from the write of the slice; a response may leave out a pod which the server has not seen yet, so 'differs' is transient here"
	return res
}
