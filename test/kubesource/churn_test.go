package kubesource_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source/kube"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/test/kubetest"
)

const (
	churned   = 20 // services that each cluster has
	addresses = 4  // of each
	churnRate = 100
)

const readerRole = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules:
- apiGroups: ["", discovery.k8s.io, networking.istio.io, multicluster.x-k8s.io]
  resources: [services, pods, nodes, namespaces, endpointslices, workloadentries, serviceexports, serviceimports]
  verbs: [get, list, watch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects: [{kind: Group, apiGroup: rbac.authorization.k8s.io, name: "system:serviceaccounts:shop"}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: old, namespace: shop}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: new, namespace: shop}
`

func churnName(n int) string { return fmt.Sprintf("svc-%d", n) }

// side is one of the two clusters, and the slices that are in it.
type side struct {
	*kubetest.Cluster
	id     model.ClusterID
	net    int
	mu     sync.Mutex // protects slices
	slices [churned]*discoveryv1.EndpointSlice
}

func newSide(t *testing.T, id model.ClusterID, net int) *side {
	t.Helper()
	s := &side{Cluster: kubetest.Start(t, kubetest.Options{}), id: id, net: net}
	s.Namespace(root)
	s.Namespace("shop")
	s.Apply(s.Parse([]byte(readerRole))...)
	for n := range churned {
		service := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: churnName(n)}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80}}},
		}
		if _, err := s.Client.CoreV1().Services("shop").Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		port, number := "http", int32(8080)
		slice := &discoveryv1.EndpointSlice{
			ObjectMeta:  metav1.ObjectMeta{Name: churnName(n), Labels: map[string]string{discoveryv1.LabelServiceName: churnName(n)}},
			AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: &port, Port: &number}},
		}
		for a := range addresses {
			ready := true
			slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
				Addresses: []string{fmt.Sprintf("10.%d.%d.%d", net, n, a+1)}, Conditions: discoveryv1.EndpointConditions{Ready: &ready},
			})
		}
		made, err := s.Client.DiscoveryV1().EndpointSlices("shop").Create(t.Context(), slice, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s.slices[n] = made
	}
	return s
}

// churn changes the readiness of one endpoint after another until ctx is done.
func (s *side) churn(ctx context.Context) error {
	tick := time.NewTicker(time.Second / churnRate)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		s.mu.Lock()
		slice := s.slices[n%churned].DeepCopy()
		s.mu.Unlock()
		e := &slice.Endpoints[n/churned%addresses]
		ready := !*e.Conditions.Ready
		e.Conditions.Ready = &ready
		changed, err := s.Client.DiscoveryV1().EndpointSlices("shop").Update(context.WithoutCancel(ctx), slice, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.slices[n%churned] = changed
		s.mu.Unlock()
	}
}

// whole counts the services of which the snapshot has a whole shard of the
// cluster. A shard in part is an error.
func (s *side) whole(snap *state.Snapshot) (int, error) {
	n := 0
	for i := range churned {
		svc := snap.Service(model.ServiceKey{Hostname: model.Hostname(churnName(i) + ".shop.svc.cluster.local"), Namespace: "shop"})
		if svc == nil {
			continue
		}
		for _, sh := range svc.Shards {
			switch {
			case sh.Key.Cluster != s.id:
			case sh.Endpoints == addresses:
				n++
			case sh.Endpoints > 0:
				return 0, fmt.Errorf("%s has %d of %d endpoints of %s", svc.Key, sh.Endpoints, addresses, s.id)
			}
		}
	}
	return n, nil
}

// equals tells whether the snapshot's shards are the slices as they are now.
func (s *side) equals(snap *state.Snapshot) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, slice := range s.slices {
		svc := snap.Service(model.ServiceKey{Hostname: model.Hostname(churnName(i) + ".shop.svc.cluster.local"), Namespace: "shop"})
		if svc == nil {
			return false
		}
		at := slices.IndexFunc(svc.Shards, func(sh *state.Shard) bool { return sh.Key.Cluster == s.id })
		if at < 0 {
			return false
		}
		if chunks := svc.Shards[at].Chunks; len(chunks) != 1 || chunks[0].ResourceVersion != slice.ResourceVersion {
			return false
		}
	}
	return true
}

// twoClusters is a mesh of two clusters under churn, and a core that watches it.
type twoClusters struct {
	near, far *side
	mesh      *kube.Mesh
	core      *control.Controller
	stopChurn func() // and returns when nothing is written any more
	checked   uint64
}

func newTwoClusters(t *testing.T) *twoClusters {
	t.Helper()
	w := &twoClusters{near: newSide(t, "near", 1), far: newSide(t, "far", 2)}
	var err error
	if w.mesh, err = kube.NewMesh(w.near.Config(), kube.Options{ID: "near"}); err != nil {
		t.Fatal(err)
	}
	w.core = control.New(control.Options{Source: w.mesh, ConfigCluster: "near", JournalSize: 1 << 15})
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running, churning sync.WaitGroup
	churn, stop := context.WithCancel(ctx)
	for _, s := range []*side{w.near, w.far} {
		churning.Go(func() {
			if err := s.churn(churn); err != nil {
				t.Errorf("churn in %s: %v", s.id, err)
			}
		})
	}
	running.Go(func() {
		if err := w.core.Run(ctx); err != nil {
			t.Errorf("core: %v", err)
		}
	})
	w.stopChurn = func() { stop(); churning.Wait() }
	t.Cleanup(func() { w.stopChurn(); cancel(); running.Wait() })
	return w
}

// until waits for a state in which ok holds.
func (w *twoClusters) until(t *testing.T, what string, ok func(*state.Snapshot) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		next := w.core.Journal().Last() + 1
		if ok(w.core.Snapshot()) {
			return
		}
		if err := w.core.Journal().Wait(ctx, next); err != nil {
			t.Fatalf("waited in vain for %s; status %+v", what, w.core.Status())
		}
	}
}

// pass waits for some more states while the clusters change.
func (w *twoClusters) pass(t *testing.T, states uint64) {
	t.Helper()
	last := w.core.Journal().Last() + states
	w.until(t, "more changes", func(*state.Snapshot) bool { return w.core.Journal().Last() >= last })
}

// all checks all states since the last check: each has all shards of the near
// cluster, and those of the far one whole: all or none.
func (w *twoClusters) all(t *testing.T, far func(n int) bool) {
	t.Helper()
	batch := w.core.Journal().Since(w.checked+1, 1<<20)
	if batch.Gap != nil || len(batch.Transitions) == 0 {
		t.Fatalf("%d states, gap %v", len(batch.Transitions), batch.Gap)
	}
	for _, tr := range batch.Transitions {
		near, errNear := w.near.whole(tr.Next)
		n, errFar := w.far.whole(tr.Next)
		if errNear != nil || errFar != nil || near != churned || !far(n) {
			t.Fatalf("state %d has %d services of near and %d of far; %v, %v", tr.Version, near, n, errNear, errFar)
		}
	}
	w.checked = batch.Next - 1
}

func (w *twoClusters) hasFar(want int) func(*state.Snapshot) bool {
	return func(s *state.Snapshot) bool {
		n, err := w.far.whole(s)
		return err == nil && n == want
	}
}

// A remote cluster comes, gets other credentials and goes while both clusters
// change: in every state its shards are all there, or none.
func TestRemoteClusterComesRotatesAndGoesUnderChurn(t *testing.T) {
	t.Parallel()
	w := newTwoClusters(t)
	kubeconfig := func(c *rest.Config) map[string][]byte { return map[string][]byte{"far": w.far.PortableKubeconfig(c)} }
	w.pass(t, 50)
	w.all(t, func(n int) bool { return n == 0 })

	putSecret(t, w.near.Cluster, "remote", kubeconfig(w.far.ServiceAccountConfig("shop", "old")))
	w.until(t, "the far cluster", w.hasFar(churned))
	w.all(t, func(n int) bool { return n == 0 || n == churned })

	for _, account := range []string{"new", "old", "new"} {
		w.pass(t, 50)
		before := w.mesh.Status()
		putSecret(t, w.near.Cluster, "remote", kubeconfig(w.far.ServiceAccountConfig("shop", account)))
		w.pass(t, 100)
		if c := clusterOf(w.mesh.Status(), "far"); c.Sync != "synced" || !c.LastEvent.After(clusterOf(before, "far").LastEvent) {
			t.Errorf("status after the rotation: %+v", c)
		}
	}
	w.all(t, func(n int) bool { return n == churned })
	w.stopChurn()
	w.until(t, "what the API servers have", func(s *state.Snapshot) bool { return w.near.equals(s) && w.far.equals(s) })

	dropSecret(t, w.near.Cluster, "remote")
	w.until(t, "the end of the far cluster", w.hasFar(0))
	w.all(t, func(n int) bool { return n == 0 || n == churned })
	if !w.near.equals(w.core.Snapshot()) {
		t.Error("the near cluster is not as its API server has it")
	}
	if st := w.mesh.Status(); len(st.Clusters) != 1 || len(st.Problems) > 0 {
		t.Errorf("status after the removal: %+v", st)
	}
}
