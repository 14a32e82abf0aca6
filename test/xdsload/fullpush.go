package main

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

func (k *kube) destinationRules(ns string) dynamic.ResourceInterface {
	return k.dyn.Resource(schema.GroupVersionResource{Group: "networking.istio.io", Version: "v1", Resource: "destinationrules"}).Namespace(ns)
}

// pushes is what fullpush creates, and when it was written and deleted.
type pushes struct {
	services        []*service
	svcSent, drSent []time.Time
	deleted         []time.Time
	last            time.Time
	withoutRules    bool
}

// fullpush creates a Service, its EndpointSlice and a DestinationRule with a subset
// at each step, and deletes all of them at the end.
func (r *runner) fullpush(ctx context.Context) *Result {
	res := &Result{Scenario: "fullpush", Clients: len(r.f.cs), Extra: map[string]Dist{}}
	c0, s := r.counters(), newSampler(r.pid, r.others)
	p := &pushes{}
	paced(ctx, r.fpN, 1/r.fpEvery.Seconds(), func(i int) { r.pushOne(ctx, p, i) })
	want := len(r.f.cs) * len(p.services)
	wantDR := want
	if p.withoutRules {
		wantDR = 0
	}
	r.await(ctx, p.last.Add(r.timeout), func() bool { return r.f.fpCount(r.f.fpCDS, p) >= want && r.f.fpCount(r.f.fpSub, p) >= wantDR })
	lost := want - r.f.fpCount(r.f.fpCDS, p) + max(0, wantDR-r.f.fpCount(r.f.fpSub, p))
	r.finish(ctx, res, c0, s, p.last)
	res.Expected += want + wantDR
	res.Lost += lost
	if want > 0 {
		res.CPUPerUC = res.Usage.ServerCPU / float64(want) * 1e6
	}
	res.Extra["cluster in CDS (from the Service's write)"] = r.fpDist(r.f.fpCDS, p.services, p.svcSent)
	res.Extra["subset cluster in CDS (from the DestinationRule's write)"] = r.fpDist(r.f.fpSub, p.services, p.drSent)
	r.withdraw(ctx, p)
	r.await(ctx, time.Now().Add(r.timeout), func() bool { return r.f.fpCount(r.f.fpGone, p) >= want })
	if lost := want - r.f.fpCount(r.f.fpGone, p); lost > 0 {
		logf("fullpush: %d removals of clusters not received", lost)
		res.Lost += lost
	}
	res.Expected += want
	res.Extra["cluster gone from CDS (from the deletes)"] = r.fpDist(r.f.fpGone, p.services, p.deleted)
	res.RateDone = 1 / r.fpEvery.Seconds()
	res.Note = "latency: from the write of the slice until its EDS"
	if p.withoutRules {
		res.Note += "; no DestinationRule CRD: only Services were created"
	}
	return res
}

func (r *runner) pushOne(ctx context.Context, p *pushes, i int) {
	sv := r.w.svcs[r.w.nPerm+i]
	p.services = append(p.services, sv)
	p.svcSent = append(p.svcSent, time.Now())
	if _, err := r.k.CoreV1().Services(sv.ns).Create(ctx, mkService(sv.name, sv.ns, nil, nil), metav1.CreateOptions{}); err != nil {
		fatalf("fullpush: %v", err)
	}
	sl := &slice{name: sv.name + "-0", eps: []ep{{ip: uint32(fpBase + 1 + i), ready: true}}}
	sv.slices = []*slice{sl}
	p.last = r.w.create(ctx, sv, sl, len(r.f.cs)).sent
	dr := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "networking.istio.io/v1", "kind": "DestinationRule",
		"metadata": map[string]any{"name": sv.name, "namespace": sv.ns},
		"spec": map[string]any{
			"host":          sv.name + "." + sv.ns + ".svc.cluster.local",
			"trafficPolicy": map[string]any{"connectionPool": map[string]any{"tcp": map[string]any{"maxConnections": int64(100 + i)}}},
			"subsets":       []any{map[string]any{"name": "v1", "labels": map[string]any{"version": "v1"}}},
		},
	}}
	p.drSent = append(p.drSent, time.Now())
	if _, err := r.k.destinationRules(sv.ns).Create(ctx, dr, metav1.CreateOptions{}); err != nil {
		p.withoutRules = true
		if i == 0 {
			logf("fullpush: DestinationRule: %v", err)
		}
	}
}

// withdraw deletes what fullpush created. What was not there is not missed.
func (r *runner) withdraw(ctx context.Context, p *pushes) {
	for _, sv := range p.services {
		p.deleted = append(p.deleted, time.Now())
		_ = r.k.destinationRules(sv.ns).Delete(ctx, sv.name, metav1.DeleteOptions{})
		_ = r.k.DiscoveryV1().EndpointSlices(sv.ns).Delete(ctx, sv.name+"-0", metav1.DeleteOptions{})
		if err := r.k.CoreV1().Services(sv.ns).Delete(ctx, sv.name, metav1.DeleteOptions{}); err != nil {
			logf("fullpush: %v", err)
		}
	}
}

func (r *runner) await(ctx context.Context, end time.Time, done func() bool) {
	until(ctx, end, 10*time.Millisecond, done)
}

// fpCount counts the (service, client) pairs that were noted.
func (f *fleet) fpCount(m map[int32][]int64, p *pushes) (n int) {
	f.fpMu.Lock()
	defer f.fpMu.Unlock()
	for _, sv := range p.services {
		for _, v := range m[int32(sv.idx)] {
			if v != 0 {
				n++
			}
		}
	}
	return n
}

func (r *runner) fpDist(m map[int32][]int64, mine []*service, sent []time.Time) Dist {
	r.f.fpMu.Lock()
	defer r.f.fpMu.Unlock()
	var l []float64
	for i, sv := range mine {
		for _, v := range m[int32(sv.idx)] {
			if v != 0 {
				l = append(l, float64(v-sent[i].UnixNano())/1e6)
			}
		}
	}
	return dist(l)
}

// create is change for a slice which does not exist yet.
func (w *world) create(ctx context.Context, s *service, sl *slice, clients int) *update {
	s.wmu.Lock()
	defer s.wmu.Unlock()
	id := w.marker()
	sl.marker = markerBase + id
	u := &update{id: id, hash: s.hash(), lat: make([]int64, clients), left: clients}
	obj := sl.build(s.name, s.ns)
	s.mu.Lock()
	u.sent = time.Now()
	s.ups = append(s.ups, u)
	s.want = u.hash
	s.mu.Unlock()
	_, err := w.k.DiscoveryV1().EndpointSlices(s.ns).Create(ctx, obj, metav1.CreateOptions{})
	s.mu.Lock()
	u.acked, u.failed = time.Now(), err != nil
	s.mu.Unlock()
	if err != nil {
		logf("%v", err)
	}
	return u
}
