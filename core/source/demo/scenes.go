package demo

import (
	"slices"
	"time"

	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edsight/edsight/core/model"
)

// The pauses before the first scene and between scenes.
const (
	firstScene = 500 * time.Millisecond
	pauseLow   = 500 * time.Millisecond
	pauseHigh  = 2 * time.Second
)

// scene is something that happens; it plans its steps and tells how long it takes.
type scene func() time.Duration

// nextScene plays the next scene. Each is played once before any is played again.
func (d *Demo) nextScene() {
	if len(d.deck) == 0 {
		d.deck = d.scenes()
		d.rng.Shuffle(len(d.deck), func(i, j int) { d.deck[i], d.deck[j] = d.deck[j], d.deck[i] })
	}
	play := d.deck[0]
	d.deck = d.deck[1:]
	d.plan.after(play()+d.between(pauseLow, pauseHigh), d.nextScene)
}

func (d *Demo) scenes() []scene {
	roll := func(name string) scene { return func() time.Duration { return d.rollingUpdate(d.workloads[name]) } }
	return []scene{
		roll("cart-v1"), roll("checkout-v1"), roll("frontend-v1"),
		func() time.Duration { return d.crashLoop(d.workloads["recommendation-v1"]) },
		func() time.Duration { return d.scaleToZero(d.workloads["email-v1"]) },
		func() time.Duration { return d.scaleOut(d.workloads["frontend-v1"]) },
		func() time.Duration { return d.slowStop(d.workloads["payment-v1"]) },
		d.zoneAway,
		d.shiftTraffic,
	}
}

// How long Pods take to stop.
const (
	quickStop = 1500 * time.Millisecond
	longStop  = 14 * time.Second
)

// rollingUpdate replaces the Pods one by one, each after its successor is ready.
func (d *Demo) rollingUpdate(w *workload) time.Duration {
	const pace, overlap = 6 * time.Second, 4 * time.Second
	d.newRevision(w)
	old := slices.Clone(w.pods)
	for i, name := range old {
		at := time.Duration(i) * pace
		d.plan.after(at, func() { d.start(w) })
		d.plan.after(at+overlap, func() { d.stop(w, name, quickStop) })
	}
	return time.Duration(len(old)) * pace
}

// crashLoop lets one Pod fail again and again, later each time.
func (d *Demo) crashLoop(w *workload) time.Duration {
	key := podKey(w, w.pods[d.rng.IntN(len(w.pods))])
	at := time.Duration(0)
	for round := range 4 {
		d.plan.after(at, func() { d.change(key, kubelet, func(p *corev1.Pod) { crash(p, d.cluster.now()) }) })
		at += time.Duration(round+1) * d.between(900*time.Millisecond, 1200*time.Millisecond)
		d.plan.after(at, func() { d.change(key, kubelet, func(p *corev1.Pod) { restart(p, d.cluster.now()) }) })
		at += d.between(1500*time.Millisecond, 2500*time.Millisecond)
	}
	return at
}

// scaleToZero stops all Pods of the workload and starts as many again.
func (d *Demo) scaleToZero(w *workload) time.Duration {
	const pace, idle = 2 * time.Second, 4 * time.Second
	all := slices.Clone(w.pods)
	away := time.Duration(len(all))*pace + idle
	for i, name := range all {
		at := time.Duration(i) * pace
		d.plan.after(at, func() { d.stop(w, name, quickStop) })
		d.plan.after(away+at, func() { d.start(w) })
	}
	return 2*away - idle + 2*time.Second
}

// scaleOut adds two Pods for a while.
func (d *Demo) scaleOut(w *workload) time.Duration {
	const pace, busy = 2 * time.Second, 8 * time.Second
	for i := range 2 {
		at := time.Duration(i) * pace
		d.plan.after(at, func() { d.start(w) })
		d.plan.after(busy+at, func() { d.stop(w, w.pods[len(w.pods)-1], quickStop) })
	}
	return busy + 2*pace
}

// slowStop replaces a Pod which then takes its time to stop. What comes next does
// not wait for it.
func (d *Demo) slowStop(w *workload) time.Duration {
	const overlap = 4 * time.Second
	name := w.pods[0]
	d.start(w)
	d.plan.after(overlap, func() { d.stop(w, name, longStop) })
	return overlap + 2*time.Second
}

// zoneAway lets the Nodes of a zone lose their network, and come back.
func (d *Demo) zoneAway() time.Duration {
	const pace, away = 1100 * time.Millisecond, 3 * time.Second
	zones := []string{"eu-west-1a", "eu-west-1b", "us-east-1a"}
	zone := zones[d.rng.IntN(len(zones))]
	pods := list(d.cluster, func(p *corev1.Pod) bool {
		return p.DeletionTimestamp == nil && isReady(p) && d.zoneOf(p) == zone
	})
	back := time.Duration(len(pods))*pace + away
	d.setNodes(zone, false, nodeLifecycle)
	d.plan.after(back, func() { d.setNodes(zone, true, kubelet) })
	for i, p := range pods {
		at, key := time.Duration(i+1)*pace, keyOf(p)
		d.plan.after(at, func() { d.change(key, nodeLifecycle, func(p *corev1.Pod) { setReady(p, false, d.cluster.now()) }) })
		d.plan.after(back+at, func() { d.change(key, kubelet, func(p *corev1.Pod) { setReady(p, true, d.cluster.now()) }) })
	}
	return 2*back - away + pace
}

// setNodes says of the Nodes of a zone whether they are heard of.
func (d *Demo) setNodes(zone string, ready bool, by actor) {
	for _, n := range d.cluster.nodes() {
		if n.Labels[model.LabelZone] != zone {
			continue
		}
		n = n.DeepCopy()
		status := corev1.ConditionUnknown
		if ready {
			status = corev1.ConditionTrue
		}
		n.Status.Conditions = []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: status, LastTransitionTime: metav1.NewTime(d.cluster.now()),
		}}
		d.cluster.write(n, by)
	}
}

func nodeReady(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// shiftTraffic moves the catalog's traffic to v2 step by step, and back.
func (d *Demo) shiftTraffic() time.Duration {
	const pace = 3 * time.Second
	weights := []int32{25, 50, 75, 50, 10}
	for i, weight := range weights {
		d.plan.after(time.Duration(i)*pace, func() { d.setWeight(weight) })
	}
	return time.Duration(len(weights)) * pace
}

// setWeight gives v2 its share, in percent.
func (d *Demo) setWeight(v2 int32) {
	key := model.ObjectKey{Cluster: clusterID, Kind: model.KindVirtualService, Namespace: "shop", Name: "catalog"}
	vs, ok := d.store.Get(key).(*networkingv1.VirtualService)
	if !ok {
		return
	}
	vs = vs.DeepCopy()
	vs.Generation++
	route := vs.Spec.GetHttp()[0].GetRoute()
	route[0].Weight, route[1].Weight = 100-v2, v2
	d.cluster.write(vs, shopOperator)
}
