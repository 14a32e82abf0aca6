package dataplane

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/xds"
)

const grpcBootstrap = `{
  "xds_servers": [{"server_uri": %q, "channel_creds": [{"type": "insecure"}], "server_features": ["xds_v3"]}],
  "node": {"id": "sidecar~127.0.0.1~client-0.shop~shop.svc.cluster.local", "metadata": {"GENERATOR": "grpc", "CLUSTER_ID": "Kubernetes"}}
}`

// grpcBackends are gRPC servers at the addresses of backends.
type grpcBackends struct {
	backends
	servers map[int]*grpc.Server
}

func startGRPCBackends(t *testing.T, n int) *grpcBackends {
	t.Helper()
	b := &grpcBackends{backends: backends{port: port(t, freeAddress(t))}, servers: map[int]*grpc.Server{}}
	for i := 1; i <= n; i++ {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", backendIP(i)+":"+b.port)
		if err != nil {
			t.Fatal(err)
		}
		s := grpc.NewServer()
		healthv1.RegisterHealthServer(s, health.NewServer())
		go func() { _ = s.Serve(l) }() // until it is stopped
		t.Cleanup(s.Stop)
		b.servers[i] = s
	}
	return b
}

// grpcClient is a client whose name resolver and balancer are gRPC's own for xDS.
type grpcClient struct {
	t      *testing.T
	client healthv1.HealthClient
}

func (m *mesh) grpcClient(target string) *grpcClient {
	m.t.Helper()
	resolver, err := xds.NewXDSResolverWithConfigForTesting(fmt.Appendf(nil, grpcBootstrap, m.addr))
	if err != nil {
		m.t.Fatal(err)
	}
	conn, err := grpc.NewClient("xds:///"+target, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithResolvers(resolver))
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = conn.Close() })
	return &grpcClient{t: m.t, client: healthv1.NewHealthClient(conn)}
}

// call returns the address that answered.
func (c *grpcClient) call(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var p peer.Peer
	_, err := c.client.Check(ctx, &healthv1.HealthCheckRequest{}, grpc.Peer(&p), grpc.WaitForReady(true))
	if err != nil {
		return "", err
	}
	host, _, err := net.SplitHostPort(p.Addr.String())
	return host, err
}

// reaches waits until exactly these backends answer. While the library goes from one
// cluster to another a call of its may fail.
func (c *grpcClient) reaches(want ...int) {
	c.t.Helper()
	eventually(c.t, fmt.Sprintf("backends %v answer", want), func() bool {
		seen := map[string]bool{}
		for range 6 * len(want) {
			who, err := c.call(c.t.Context())
			if err != nil {
				c.t.Logf("call: %v", err)
				return false
			}
			seen[who] = true
		}
		for _, b := range want {
			if !seen[backendIP(b)] {
				return false
			}
		}
		return len(seen) == len(want)
	})
}

func TestGRPCFollowsARollingUpdate(t *testing.T) {
	b := startGRPCBackends(t, 4)
	m := newMesh(t, shop(4)+"---"+b.slice(ready(1, 2)...))
	c := m.grpcClient("web.shop.svc.cluster.local:80")
	c.reaches(1, 2)

	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	var calls atomic.Int64
	go func() {
		defer close(stopped)
		for ctx.Err() == nil {
			if _, err := c.call(context.WithoutCancel(ctx)); err != nil {
				t.Errorf("call: %v", err)
			}
			calls.Add(1)
		}
	}()
	// Each Pod is replaced as a Deployment does it: the new one, then without the
	// old one, which ends when nobody uses it any more.
	for _, step := range []struct {
		with, without []int
		gone          int
	}{{[]int{1, 2, 3}, []int{2, 3}, 1}, {[]int{2, 3, 4}, []int{3, 4}, 2}} {
		m.put(b.slice(ready(step.with...)...))
		c.reaches(step.with...)
		m.put(b.slice(ready(step.without...)...))
		c.reaches(step.without...)
		b.servers[step.gone].GracefulStop()
	}
	c.reaches(3, 4)
	cancel()
	<-stopped
	if calls.Load() < 50 {
		t.Errorf("only %d calls were made", calls.Load())
	}
}

func TestGRPCFollowsAVirtualService(t *testing.T) {
	b := startGRPCBackends(t, 4)
	const rule = `
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: web, namespace: shop}
spec: {host: web, subsets: [{name: some, labels: {version: VERSION}}]}
`
	const route = `
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web, namespace: shop}
spec: {hosts: [web], http: [{route: [{destination: {host: web, subset: some}}]}]}
`
	m := newMesh(t, shop(4)+"---"+b.slice(ready(1, 2, 3, 4)...)+"---"+strings.Replace(rule, "VERSION", "v2", 1))
	c := m.grpcClient("web.shop.svc.cluster.local:80")
	c.reaches(1, 2, 3, 4)
	m.put(route)
	c.reaches(3, 4)
	m.put(strings.Replace(rule, "VERSION", "v1", 1))
	c.reaches(1, 2)
	m.put("$op: delete\n" + route)
	c.reaches(1, 2, 3, 4)
}

func TestGRPCNoticesWhatIsNotThere(t *testing.T) {
	b := startGRPCBackends(t, 1)
	m := newMesh(t, shop(1)+"---"+b.slice(ready(1)...))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	missing := m.grpcClient("nobody.shop.svc.cluster.local:80")
	if who, err := missing.call(ctx); err == nil {
		t.Errorf("%s answers for a service that is not there", who)
	}
	m.put(`
apiVersion: v1
kind: Service
metadata: {name: nobody, namespace: shop}
spec: {clusterIP: 10.0.0.9, ports: [{name: http, port: 80}]}
---` + b.sliceOf("nobody", ready(1)...))
	eventually(t, "the service that came is reached", func() bool {
		_, err := m.grpcClient("nobody.shop.svc.cluster.local:80").call(t.Context())
		return err == nil
	})
}

// An Envoy goes to the address that its client called; a library has to be told of the
// endpoints of a headless service. That the client is one is said by its metadata.
func TestGRPCReachesAHeadlessService(t *testing.T) {
	b := startGRPCBackends(t, 3)
	const db = `
apiVersion: v1
kind: Service
metadata: {name: db, namespace: shop}
spec: {clusterIP: None, ports: [{name: http, port: 5432}]}
---
apiVersion: v1
kind: Pod
metadata: {name: client-0, namespace: shop}
spec: {nodeName: node-a, containers: [{name: istio-proxy, image: agent}]}
status: {phase: Running, podIP: 127.0.0.1, podIPs: [{ip: 127.0.0.1}]}
---`
	m := newMesh(t, shop(3))
	m.put(db + b.sliceOf("db", ready(1, 2)...))
	c := m.grpcClient("db.shop.svc.cluster.local:5432")
	c.reaches(1, 2)
	m.put(b.sliceOf("db", ready(2, 3)...))
	c.reaches(2, 3)
}
