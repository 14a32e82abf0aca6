package demo

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edsight/edsight/core/model"
)

// workload is a set of like Pods, and the Deployment or StatefulSet behind it.
type workload struct {
	namespace, app, version string
	replicas                int
	portName                string
	port                    int32
	account                 string
	gateway, stateful       bool

	hash, ownerUID string   // of the present ReplicaSet
	pods           []string // those not told to stop, oldest first
}

func (w *workload) name() string { return w.app + "-" + w.version }

func (w *workload) replicaSet() string { return w.name() + "-" + w.hash }

// newRevision changes the template of the workload's Pods.
func (d *Demo) newRevision(w *workload) {
	w.hash, w.ownerUID = d.cluster.word(10), string(d.cluster.uid())
}

func podKey(w *workload, name string) model.ObjectKey {
	return model.ObjectKey{Cluster: clusterID, Kind: model.KindPod, Namespace: w.namespace, Name: name}
}

// change writes a new version of a Pod, if it is still there.
func (d *Demo) change(key model.ObjectKey, by actor, edit func(*corev1.Pod)) {
	p, ok := d.store.Get(key).(*corev1.Pod)
	if !ok {
		return
	}
	p = p.DeepCopy()
	edit(p)
	d.cluster.write(p, by)
	d.podChanged(p)
}

// errNoRoom is met when a Pod finds no place.
var errNoRoom = errors.New("no node has room")

// placeFor chooses a Node: a zone, then a Node, with the fewest Pods of the
// workload, then that with the fewest Pods.
func (d *Demo) placeFor(w *workload) (*corev1.Node, error) {
	type load struct {
		node              *corev1.Node
		zone, here, total int
	}
	var loads []load
	pods := list(d.cluster, func(p *corev1.Pod) bool { return p.Spec.NodeName != "" && p.DeletionTimestamp == nil })
	for _, n := range d.cluster.nodes() {
		if !nodeReady(n) {
			continue
		}
		l := load{node: n}
		for _, p := range pods {
			here, same := p.Spec.NodeName == n.Name, p.Labels["app"] == w.app
			switch {
			case here && same:
				l.here, l.zone, l.total = l.here+1, l.zone+1, l.total+1
			case here:
				l.total++
			case same && d.zoneOf(p) == n.Labels[model.LabelZone]:
				l.zone++
			}
		}
		loads = append(loads, l)
	}
	if len(loads) == 0 {
		return nil, errNoRoom
	}
	best := slices.MinFunc(loads, func(a, b load) int {
		return cmp.Or(cmp.Compare(a.zone, b.zone), cmp.Compare(a.here, b.here), cmp.Compare(a.total, b.total))
	})
	return best.node, nil
}

// zoneOf is the zone of the Pod's Node.
func (d *Demo) zoneOf(p *corev1.Pod) string {
	if n, err := (nodeLister{d.cluster}).Get(p.Spec.NodeName); err == nil {
		return n.Labels[model.LabelZone]
	}
	return ""
}

// The last part of the addresses that Pods get.
const (
	firstHost = 10
	lastHost  = 250
)

// freeIP is the next address of the Node that no Pod has. Addresses are used
// again as late as possible.
func (d *Demo) freeIP(n *corev1.Node) string {
	used := map[string]bool{}
	for _, p := range list(d.cluster, func(p *corev1.Pod) bool { return p.Spec.NodeName == n.Name }) {
		used[p.Status.PodIP] = true
	}
	net := strings.TrimSuffix(n.Spec.PodCIDR, "0/24")
	for range lastHost - firstHost {
		host := max(firstHost, (d.lastHost[n.Name]+1)%lastHost)
		d.lastHost[n.Name] = host
		if ip := net + strconv.Itoa(host); !used[ip] {
			return ip
		}
	}
	d.fail(keyOf(n), errNoRoom)
	return ""
}

// born puts a Pod of the workload there that has been running for long.
func (d *Demo) born(w *workload) error {
	name := ""
	if w.stateful {
		name = fmt.Sprintf("%s-%d", w.app, len(w.pods))
	}
	p := w.newPod(name)
	n, err := d.placeFor(w)
	if err != nil {
		return fmt.Errorf("place a pod of %s: %w", w.name(), err)
	}
	bind(p, n.Name, d.cluster.now())
	run(p, d.freeIP(n), hostIP(n), d.cluster.now())
	setReady(p, true, d.cluster.now())
	d.cluster.create(p, kubelet)
	w.pods = append(w.pods, p.Name)
	return nil
}

func hostIP(n *corev1.Node) string {
	for _, a := range n.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			return a.Address
		}
	}
	return ""
}

// start creates a Pod of the workload, which becomes ready in time.
func (d *Demo) start(w *workload) {
	p := w.newPod("")
	d.cluster.create(p, deployments)
	d.podChanged(p)
	key := keyOf(p)
	w.pods = append(w.pods, p.Name)
	n, err := d.placeFor(w)
	if err != nil {
		d.fail(key, fmt.Errorf("place pod %s: %w", p.Name, err))
		return
	}
	bound := d.between(100*time.Millisecond, 300*time.Millisecond)
	running := bound + d.between(700*time.Millisecond, 1500*time.Millisecond)
	ready := running + d.between(1200*time.Millisecond, 2000*time.Millisecond)
	d.plan.after(bound, func() { d.change(key, scheduler, func(p *corev1.Pod) { bind(p, n.Name, d.cluster.now()) }) })
	d.plan.after(running, func() {
		d.change(key, kubelet, func(p *corev1.Pod) { run(p, d.freeIP(n), hostIP(n), d.cluster.now()) })
	})
	d.plan.after(ready, func() { d.change(key, kubelet, func(p *corev1.Pod) { setReady(p, true, d.cluster.now()) }) })
}

// stop tells a Pod to stop. It goes on serving for a while, then fails its probe,
// then is gone.
func (d *Demo) stop(w *workload, name string, takes time.Duration) {
	key := podKey(w, name)
	w.pods = slices.DeleteFunc(w.pods, func(n string) bool { return n == name })
	d.change(key, deployments, func(p *corev1.Pod) {
		seconds := *p.Spec.TerminationGracePeriodSeconds
		until := metav1.NewTime(d.cluster.now().Add(time.Duration(seconds) * time.Second))
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &until, &seconds
	})
	d.plan.after(takes*7/10, func() { d.change(key, kubelet, func(p *corev1.Pod) { setReady(p, false, d.cluster.now()) }) })
	d.plan.after(takes, func() {
		p, ok := d.store.Get(key).(*corev1.Pod)
		if ok && d.store.Delete(key) {
			d.podChanged(p)
		}
	})
}
