package main

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pos is the place of an endpoint: the slice's index, and its own.
type pos struct{ si, ei int }

// rollout replaces the pods of one service one by one: new pod (other labels), ready, the slice with the
// new instead of the old endpoint, a label on the old pod, the old pod deleted.
func (r *runner) rollout(ctx context.Context) *Result {
	res := &Result{Scenario: "rollout", Clients: len(r.f.cs)}
	sv := r.w.svcs[r.w.t.Services]
	version := "v" + strconv.FormatInt(time.Now().Unix()%100000, 10)
	var todo []pos
	for si, sl := range sv.slices {
		for ei := range sl.eps {
			todo = append(todo, pos{si, ei})
		}
	}
	jobs := make(chan pos, len(todo))
	var wg sync.WaitGroup
	var last latest
	var podErrs atomic.Int64
	c0, s := r.counters(), newSampler(r.pid, r.others)
	for range 4 {
		wg.Go(func() {
			for p := range jobs {
				sent, errs := r.replacePod(ctx, sv, p, version)
				last.note(sent)
				podErrs.Add(errs)
			}
		})
	}
	start := time.Now()
	paced(ctx, len(todo), r.rollRate, func(i int) { jobs <- todo[i] })
	close(jobs)
	wg.Wait()
	took := time.Since(start).Seconds()
	r.finish(ctx, res, c0, s, last.time())
	res.RateDone = float64(res.Updates) / took
	res.Failed += int(podErrs.Load())
	res.Note = "latency from the write of the slice; a response may leave out a pod which the server has not seen yet, so 'differs' is transient here"
	return res
}

// replacePod does the whole of it for one pod; it returns when the slice was
// written, and how many writes of pods failed.
func (r *runner) replacePod(ctx context.Context, sv *service, p pos, version string) (sent time.Time, errs int64) {
	failed := func(err error) {
		if err != nil {
			errs++
			logf("rollout: %v", err)
		}
	}
	e := rolloutEp(r.w.t, atomic.AddUint32(&r.w.nextRoll, 1)-1)
	failed(createPod(ctx, r.k, mkPod(e.pod, sv.ns, "rollout", version, e.node), e.ip))
	var old string
	u := r.w.change(ctx, sv, p.si, len(r.f.cs), func(sl *slice) {
		old = sl.eps[p.ei].pod
		sl.eps[p.ei] = e
	})
	failed(r.w.patchLabel(ctx, sv.ns, old, "going", "true"))
	err := r.k.CoreV1().Pods(sv.ns).Delete(ctx, old, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	if !apierrors.IsNotFound(err) {
		failed(err)
	}
	return u.sent, errs
}
