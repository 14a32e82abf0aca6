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

// walk takes the service through its life, down to nothing. After each step the
// shards must equal the slices.
func walk(t *testing.T, k *kubetest.Cluster, e edsight) {
	t.Helper()
	for n := range replicas {
		runWeb(k, 0, n)
	}
	settle(t, k, e, map[int]int{healthy: replicas})

	k.SetReady("shop", podName(0, 1), false)
	settle(t, k, e, map[int]int{healthy: replicas - 1, unhealthy: 1})
	k.SetReady("shop", podName(0, 1), true)
	settle(t, k, e, map[int]int{healthy: replicas})

	k.Terminate("shop", podName(0, 0))
	settle(t, k, e, map[int]int{healthy: replicas - 1, terminating: 1})
	k.DeletePod("shop", podName(0, 0))
	settle(t, k, e, map[int]int{healthy: replicas - 1})

	for n := 1; n < replicas; n++ {
		k.DeletePod("shop", podName(0, n))
	}
	settle(t, k, e, map[int]int{})
}

func TestShardsEqualSlicesAfterEachStep(t *testing.T) {
	t.Parallel()
	k := newShop(t)
	c := start(t, k)
	walk(t, k, c)
	before := c.control.Journal().Last()
	runWeb(k, 1, 0)
	settle(t, k, c, map[int]int{healthy: 1})
	pushes := c.control.Journal().Since(before+1, 1000).Transitions
	if !anyPush(pushes, state.PushIncremental) {
		t.Errorf("the return from zero caused no incremental push: %v", pushTypes(pushes))
	}
}

func TestProgramFollowsACluster(t *testing.T) {
	t.Parallel()
	k := newShop(t)
	p := serve(t, k)
	walk(t, k, p)
	if err := p.probe(t.Context(), "/readyz"); err != nil {
		t.Error(err)
	}
	killInTheMiddle(t, k, p)
}

func TestAPIServerKilledInTheMiddleLosesNothing(t *testing.T) {
	t.Parallel()
	k := newShop(t)
	killInTheMiddle(t, k, start(t, k))
}

// killInTheMiddle kills the API server between changes and makes others as soon
// as it is back.
func killInTheMiddle(t *testing.T, k *kubetest.Cluster, e edsight) {
	t.Helper()
	for n := range replicas {
		runWeb(k, 1, n)
	}
	settle(t, k, e, map[int]int{healthy: replicas})
	before := byShards(e.shards(t), "shop", "web")

	k.StopAPIServer()
	lost := connection(t, e, false)
	if lost.Error == "" || lost.LastEvent.IsZero() {
		t.Errorf("the loss is not shown: %+v", lost)
	}
	if got := byShards(e.shards(t), "shop", "web"); len(got) != len(before) || !e.status(t).Ready {
		t.Errorf("without API server the shards are %v", got)
	}
	k.StartAPIServer()
	k.SetReady("shop", podName(1, 0), false)
	k.DeletePod("shop", podName(1, 1))
	runWeb(k, 2, 0)
	runWeb(k, 2, 1)
	settle(t, k, e, map[int]int{healthy: replicas, unhealthy: 1})
	if back := connection(t, e, true); back.Error != "" || !back.LastEvent.After(lost.LastEvent) {
		t.Errorf("the return is not shown: %+v", back)
	}
}

// Every version of a slice that the API server had, as another watcher saw them,
// is among the causes of a transition.
func TestEveryVersionOfASliceIsACause(t *testing.T) {
	t.Parallel()
	k := newShop(t)
	c := start(t, k)
	watch, err := k.Client.DiscoveryV1().EndpointSlices("shop").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	walk(t, k, c)
	last := slicesWith(t, k, "shop", "web", map[int]int{})[0]
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
	if len(written) < 6 { // there were more steps than that
		t.Fatalf("the slice was written as %v only", written)
	}
	c.until(t, "the slice's last version", func() bool {
		return causes(c.control.Journal(), model.KindEndpointSlice)[last.ResourceVersion]
	})
	known := causes(c.control.Journal(), model.KindEndpointSlice)
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
