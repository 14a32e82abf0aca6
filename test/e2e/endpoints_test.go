package e2e_test

import (
	"fmt"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/test/kubetest"
)

const replicas = 5

func runWeb(k *kubetest.Cluster, generation, n int) {
	k.RunPod(kubetest.Pod{
		Namespace: "shop", Name: podName(generation, n), Node: "n1", IP: fmt.Sprintf("10.1.%d.%d", generation, n+1),
		Labels: map[string]string{"app": "web"},
	})
}

func podName(generation, n int) string { return fmt.Sprintf("web-%d-%d", generation, n) }

func newShop(t *testing.T) *kubetest.Cluster {
	t.Helper()
	k := kubetest.Start(t, kubetest.Options{Controllers: true})
	k.Namespace("shop")
	k.Node("n1", "z1")
	k.Service("shop", "web")
	return k
}

func TestShardsEqualSlicesAfterEachStep(t *testing.T) {
	t.Parallel()
	s := start(t, newShop(t))
	for n := range replicas {
		runWeb(s.Cluster, 0, n)
	}
	s.settle(t, "shop", "web", map[int]int{healthy: replicas})

	s.SetReady("shop", podName(0, 1), false)
	s.settle(t, "shop", "web", map[int]int{healthy: replicas - 1, unhealthy: 1})
	s.SetReady("shop", podName(0, 1), true)
	s.settle(t, "shop", "web", map[int]int{healthy: replicas})

	s.Terminate("shop", podName(0, 0))
	s.settle(t, "shop", "web", map[int]int{healthy: replicas - 1, terminating: 1})
	s.DeletePod("shop", podName(0, 0))
	s.settle(t, "shop", "web", map[int]int{healthy: replicas - 1})

	for n := 1; n < replicas; n++ {
		s.DeletePod("shop", podName(0, n))
	}
	s.settle(t, "shop", "web", map[int]int{})
	before := s.control.Journal().Last()
	runWeb(s.Cluster, 1, 0)
	s.settle(t, "shop", "web", map[int]int{healthy: 1})
	pushes := s.control.Journal().Since(before+1, 1000).Transitions
	if !anyPush(pushes, state.PushIncremental) {
		t.Errorf("the return from zero caused no incremental push: %v", pushTypes(pushes))
	}
}

func TestAPIServerKilledInTheMiddleLosesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, newShop(t))
	for n := range replicas {
		runWeb(s.Cluster, 0, n)
	}
	s.settle(t, "shop", "web", map[int]int{healthy: replicas})
	before := byShards(s.shards(t), "shop", "web")

	s.StopAPIServer()
	lost := s.connection(t, false)
	if lost.Error == "" || lost.LastEvent.IsZero() {
		t.Errorf("the loss is not shown: %+v", lost)
	}
	if got := byShards(s.shards(t), "shop", "web"); len(got) != len(before) || !s.control.Status().Ready {
		t.Errorf("without API server the shards are %v", got)
	}
	s.StartAPIServer()
	s.SetReady("shop", podName(0, 0), false)
	s.DeletePod("shop", podName(0, 1))
	runWeb(s.Cluster, 1, 0)
	runWeb(s.Cluster, 1, 1)
	s.settle(t, "shop", "web", map[int]int{healthy: replicas, unhealthy: 1})
	if back := s.connection(t, true); back.Error != "" || !back.LastEvent.After(lost.LastEvent) {
		t.Errorf("the return is not shown: %+v", back)
	}
}

// Every version of a slice that the API server had, as another watcher saw them,
// is among the causes of a transition.
func TestEveryVersionOfASliceIsACause(t *testing.T) {
	t.Parallel()
	k := newShop(t)
	s := start(t, k)
	watch, err := k.Client.DiscoveryV1().EndpointSlices("shop").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	for n := range replicas {
		runWeb(s.Cluster, 0, n)
	}
	slicesWith(t, k, "shop", "web", map[int]int{healthy: replicas})
	s.SetReady("shop", podName(0, 1), false)
	slicesWith(t, k, "shop", "web", map[int]int{healthy: replicas - 1, unhealthy: 1})
	s.DeletePod("shop", podName(0, 2))
	last := slicesWith(t, k, "shop", "web", map[int]int{healthy: replicas - 2, unhealthy: 1})[0]
	var written []string
	for e := range watch.ResultChan() {
		slice, ok := e.Object.(*discoveryv1.EndpointSlice)
		if !ok {
			t.Fatalf("watched %T", e.Object)
		}
		written = append(written, slice.ResourceVersion)
		if slice.ResourceVersion == last.ResourceVersion {
			break
		}
	}
	if len(written) < 3 {
		t.Fatalf("the slice was written as %v only", written)
	}
	s.until(t, "the slice's last version", func() bool {
		return causes(s.control.Journal(), model.KindEndpointSlice)[last.ResourceVersion]
	})
	known := causes(s.control.Journal(), model.KindEndpointSlice)
	for _, version := range written {
		if !known[version] {
			t.Errorf("version %s of the slice is among no causes", version)
		}
	}
}

func causes(j *journal.Journal, kind model.Kind) map[string]bool {
	seen := map[string]bool{}
	for _, t := range j.Since(1, 1<<20).Transitions {
		for i := range t.Causes {
			if t.Causes[i].Key.Kind != kind {
				continue
			}
			seen[t.Causes[i].ResourceVersion] = true
			for _, rv := range t.Causes[i].ResourceVersions {
				seen[rv] = true
			}
		}
	}
	return seen
}

func anyPush(all []*journal.Transition, typ state.PushType) bool {
	for _, t := range all {
		if t.Push.Scope.Type == typ {
			return true
		}
	}
	return false
}

func pushTypes(all []*journal.Transition) []string {
	var types []string
	for _, t := range all {
		types = append(types, t.Push.Scope.Type.String())
	}
	return types
}
