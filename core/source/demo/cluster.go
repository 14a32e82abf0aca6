package demo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/memory"
)

// clusterID is the name of the only cluster.
const clusterID model.ClusterID = "Kubernetes"

// actor is who writes an object.
type actor string

const (
	kubelet       actor = "kubelet"
	scheduler     actor = "kube-scheduler"
	deployments   actor = "deployment-controller"
	nodeLifecycle actor = "node-lifecycle-controller"
	endpoints     actor = "endpointslice-controller"
	shopOperator  actor = "shop-operator"
)

// cluster gives objects what an API server gives them, and keeps them in a store.
type cluster struct {
	store   *memory.Store
	now     func() time.Time
	rng     *rand.Rand
	version int
}

func newCluster(store *memory.Store, now func() time.Time, rng *rand.Rand) *cluster {
	return &cluster{store: store, now: now, rng: rng, version: 1000}
}

func keyOf(o source.Object) model.ObjectKey {
	kind := o.GetObjectKind().GroupVersionKind().Kind
	return model.ObjectKey{Cluster: clusterID, Kind: model.Kind(kind), Namespace: o.GetNamespace(), Name: o.GetName()}
}

// create adds an object; it belongs to the cluster from then on.
func (c *cluster) create(o source.Object, by actor) {
	if o.GetName() == "" {
		o.SetName(o.GetGenerateName() + c.word(5))
	}
	o.SetUID(c.uid())
	o.SetCreationTimestamp(metav1.NewTime(c.now()))
	c.write(o, by)
}

// write stores a new version of an object.
func (c *cluster) write(o source.Object, by actor) {
	c.version += 1 + c.rng.IntN(3)
	o.SetResourceVersion(strconv.Itoa(c.version))
	o.SetManagedFields(c.managed(o, by))
	c.store.Put(keyOf(o), o)
}

// managed puts the actor before all who wrote the object earlier.
func (c *cluster) managed(o source.Object, by actor) []metav1.ManagedFieldsEntry {
	at := metav1.NewTime(c.now())
	fields := []metav1.ManagedFieldsEntry{{
		Manager: string(by), Operation: metav1.ManagedFieldsOperationUpdate, Time: &at,
		APIVersion: o.GetObjectKind().GroupVersionKind().GroupVersion().String(),
	}}
	for _, f := range o.GetManagedFields() {
		if f.Manager != string(by) {
			fields = append(fields, f)
		}
	}
	return fields
}

// list returns the objects of one type that match, in the order of their names.
func list[T source.Object](c *cluster, match func(T) bool) []T {
	var all []T
	for _, o := range c.store.All() {
		if t, ok := o.(T); ok && match(t) {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b T) int { return keyOf(a).Compare(keyOf(b)) })
	return all
}

// pods returns the Pods of a namespace that a selector matches.
func (c *cluster) pods(namespace string, selector map[string]string) []*corev1.Pod {
	return list(c, func(p *corev1.Pod) bool {
		return p.Namespace == namespace && labels.SelectorFromSet(selector).Matches(labels.Set(p.Labels))
	})
}

// nodes returns all Nodes.
func (c *cluster) nodes() []*corev1.Node {
	return list(c, func(*corev1.Node) bool { return true })
}

func (c *cluster) uid() types.UID {
	a, b := c.rng.Uint64(), c.rng.Uint64()
	return types.UID(fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>48&0xfff, b&0xffffffffffff))
}

// word makes one of the meaningless words in names that Kubernetes gives.
func (c *cluster) word(n int) string {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	w := make([]byte, n)
	for i := range w {
		w[i] = alphabet[c.rng.IntN(len(alphabet))]
	}
	return string(w)
}
