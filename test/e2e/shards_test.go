package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edsight/edsight/test/kubetest"
)

// The health statuses of endpointShardz.
const (
	healthy     = 1
	unhealthy   = 2
	terminating = 4
)

// shardz is the body of endpointShardz, as far as it is compared: by host and
// namespace the endpoints of each shard.
type shardz map[string]map[string]struct {
	Shards map[string][]struct {
		Addresses       []string
		ServicePortName string
		EndpointPort    uint32
		HealthStatus    int
	}
}

// bySlices says what the API server's slices of a service amount to: one line
// per address and port, sorted.
func bySlices(all []discoveryv1.EndpointSlice) []string {
	var lines []string
	for i := range all {
		for _, e := range all[i].Endpoints {
			for _, p := range all[i].Ports {
				lines = append(lines, line(e.Addresses[0], *p.Name, uint32(*p.Port), health(e.Conditions)))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func health(c discoveryv1.EndpointConditions) int {
	switch {
	case c.Ready == nil || *c.Ready:
		return healthy
	case c.Terminating != nil && *c.Terminating:
		return terminating
	default:
		return unhealthy
	}
}

func line(address, port string, number uint32, health int) string {
	return fmt.Sprintf("%s:%d %s health %d", address, number, port, health)
}

// byShards says the same of a body of endpointShardz.
func byShards(body shardz, namespace, service string) []string {
	var lines []string
	for _, endpoints := range body[service+"."+namespace+".svc.cluster.local"][namespace].Shards {
		for _, e := range endpoints {
			lines = append(lines, line(e.Addresses[0], e.ServicePortName, e.EndpointPort, e.HealthStatus))
		}
	}
	slices.Sort(lines)
	return lines
}

// slicesWith waits until the slices of a service have so many endpoints of each
// health, and returns them.
func slicesWith(t *testing.T, k *kubetest.Cluster, namespace, service string, want map[int]int) []discoveryv1.EndpointSlice {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	client := k.Client.DiscoveryV1().EndpointSlices(namespace)
	o := metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + service}
	for {
		list, err := client.List(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		if fits(list.Items, want) {
			return list.Items
		}
		o.ResourceVersion = list.ResourceVersion
		watch, err := client.Watch(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		_, open := <-watch.ResultChan()
		watch.Stop()
		if !open && ctx.Err() != nil {
			t.Fatalf("the slices never had %v: %v", want, bySlices(list.Items))
		}
	}
}

func fits(all []discoveryv1.EndpointSlice, want map[int]int) bool {
	got := map[int]int{}
	total := 0
	for i := range all {
		for _, e := range all[i].Endpoints {
			got[health(e.Conditions)]++
			total++
		}
	}
	for h, n := range want {
		if got[h] != n {
			return false
		}
		total -= n
	}
	return total == 0
}

// settle waits until the slices of shop's web are as wanted, and then until the
// shards equal them.
func settle(t *testing.T, k *kubetest.Cluster, e edsight, want map[int]int) {
	t.Helper()
	const namespace, service = "shop", "web"
	wanted := bySlices(slicesWith(t, k, namespace, service, want))
	e.until(t, "shards: "+strings.Join(wanted, ", "), func() bool {
		return slices.Equal(byShards(e.shards(t), namespace, service), wanted)
	})
}
