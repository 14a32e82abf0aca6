package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
)

const (
	typePrefix   = "type.googleapis.com/envoy.config."
	typeCluster  = typePrefix + "cluster.v3.Cluster"
	typeEndpoint = typePrefix + "endpoint.v3.ClusterLoadAssignment"

	cluster   = "Kubernetes"
	namespace = "shop"
	address   = "10.9.0.1" // of all clients
)

// client behaves badly until it is calm: it ends its stream, refuses, and
// stops to read, at random. What it gets it takes over, refused or not.
type client struct {
	id     string
	pinned registry.Pinned
	conn   *grpc.ClientConn
	random *rand.Rand
	sotw   bool
	calm   atomic.Bool

	mu                  sync.Mutex // protects all below
	clusters, endpoints map[string]string
	versions            map[string]map[string]string // by type and name, incremental only
	warming             map[string]bool              // clusters that wait for their endpoints
}

func newClient(conn *grpc.ClientConn, i int) *client {
	pod := model.ObjectKey{Cluster: cluster, Kind: model.KindPod, Namespace: namespace, Name: fmt.Sprintf("client-%d", i)}
	id := registry.ProxyID(pod)
	c := &client{
		id: id, conn: conn, random: rand.New(rand.NewPCG(uint64(i), 7)), sotw: i%2 == 1,
		pinned: registry.Pinned{Pod: pod, Type: model.Sidecar, Proxy: &model.Proxy{
			ID: id, Type: model.Sidecar, Pod: pod, Namespace: namespace, Cluster: cluster, IPs: []string{address},
		}},
	}
	c.reset()
	return c
}

// node is what the client says of itself, which is what is pinned.
func (c *client) node() *corev3.Node {
	return &corev3.Node{Id: "sidecar~" + address + "~" + c.id + "~shop.svc.cluster.local"}
}

func (c *client) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clusters, c.endpoints = map[string]string{}, map[string]string{}
	c.versions = map[string]map[string]string{typeCluster: {}, typeEndpoint: {}}
	c.warming = map[string]bool{}
}

func (c *client) run(ctx context.Context) {
	for ctx.Err() == nil {
		if c.sotw || c.random.IntN(2) == 0 {
			c.reset() // has forgotten everything
		}
		streamCtx, cancel := context.WithCancel(ctx)
		client := discoveryv3.NewAggregatedDiscoveryServiceClient(c.conn)
		if c.sotw {
			if s, err := client.StreamAggregatedResources(streamCtx); err == nil {
				c.runSotw(s)
			}
		} else if s, err := client.DeltaAggregatedResources(streamCtx); err == nil {
			c.runDelta(s)
		}
		cancel()
	}
}

// mood tells whether to go away, and whether to refuse; sometimes it dawdles.
func (c *client) mood() (leave, refuse bool) {
	if c.calm.Load() {
		return false, false
	}
	if c.random.IntN(40) == 0 {
		<-time.After(time.Duration(c.random.IntN(100)) * time.Millisecond)
	}
	return c.random.IntN(60) == 0, c.random.IntN(15) == 0
}

func refusal(yes bool) *rpcstatus.Status {
	if !yes {
		return nil
	}
	return &rpcstatus.Status{Code: 3, Message: "not today"}
}

// edsNamesLocked are the names of clusters whose endpoints are asked for.
func (c *client) edsNamesLocked() map[string]bool {
	out := map[string]bool{}
	for name, b := range c.clusters {
		m := &clusterv3.Cluster{}
		if proto.Unmarshal([]byte(b), m) == nil && m.GetType() == clusterv3.Cluster_EDS {
			out[name] = true
		}
	}
	return out
}

func (c *client) storeLocked(typeURL, name string, b []byte) {
	if typeURL == typeCluster {
		c.clusters[name] = string(b)
		m := &clusterv3.Cluster{}
		if proto.Unmarshal(b, m) == nil && m.GetType() == clusterv3.Cluster_EDS {
			c.warming[name] = true
		} else {
			delete(c.warming, name)
		}
		return
	}
	if _, ok := c.clusters[name]; !ok {
		return // the cluster went while this was on the way
	}
	c.endpoints[name] = string(b)
	delete(c.warming, name)
}

func (c *client) dropLocked(typeURL, name string) {
	if typeURL == typeCluster {
		delete(c.clusters, name)
		delete(c.warming, name)
	}
	delete(c.endpoints, name)
}
