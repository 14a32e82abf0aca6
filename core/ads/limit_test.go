package ads

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/session"
)

// TestLimitsOfAStream: a client that asks for too much is sent away, and the others
// are served.
func TestLimitsOfAStream(t *testing.T) {
	h := start(t, services(1))
	other := h.connect("client-0.shop", "s0")
	numbered := func(round, n int, more string) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprintf("outbound|80||%d.%d%s", round, i, more)
		}
		return out
	}
	large := nodeOf("client-9.shop")
	large.Metadata = &structpb.Struct{Fields: map[string]*structpb.Value{"ANNOTATIONS": structpb.NewStringValue(strings.Repeat("x", maxNode))}}
	subscribe := func(names ...string) *discoveryv3.DeltaDiscoveryRequest {
		return &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeEndpoint, ResourceNamesSubscribe: names}
	}
	for _, c := range []struct {
		what     string
		node     *corev3.Node
		requests func(i int) *discoveryv3.DeltaDiscoveryRequest
		code     codes.Code
	}{
		{"types", nil, func(i int) *discoveryv3.DeltaDiscoveryRequest {
			return &discoveryv3.DeltaDiscoveryRequest{TypeUrl: fmt.Sprint("type-", i)}
		}, codes.ResourceExhausted},
		{"names", nil, func(i int) *discoveryv3.DeltaDiscoveryRequest {
			return subscribe(numbered(i, maxNames/4, "")...)
		}, codes.ResourceExhausted},
		{"bytes of names", nil, func(i int) *discoveryv3.DeltaDiscoveryRequest {
			return subscribe(numbered(i, 4<<10, strings.Repeat("x", maxName/2))...)
		}, codes.ResourceExhausted},
		{"names of one request", nil, func(int) *discoveryv3.DeltaDiscoveryRequest {
			return subscribe(make([]string, maxNames+1)...)
		}, codes.InvalidArgument},
		{"a name", nil, func(int) *discoveryv3.DeltaDiscoveryRequest {
			return subscribe(strings.Repeat("x", maxName+1))
		}, codes.InvalidArgument},
		{"a type", nil, func(int) *discoveryv3.DeltaDiscoveryRequest {
			return &discoveryv3.DeltaDiscoveryRequest{TypeUrl: strings.Repeat("x", maxName+1)}
		}, codes.InvalidArgument},
		{"a node", large, func(int) *discoveryv3.DeltaDiscoveryRequest {
			return &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeCluster}
		}, codes.InvalidArgument},
	} {
		t.Run(c.what, func(t *testing.T) {
			node := c.node
			if node == nil {
				node = nodeOf("client-1.shop")
			}
			d := h.delta("", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeCluster, Node: node})
			for i := 0; ; i++ {
				if d.stream.Send(c.requests(i)) != nil || i > 100 {
					break // the stream says why
				}
			}
			wantEnd(t, d, c.code)
		})
	}
	h.put(slice("s0", "10.0.9.9"))
	other.expect("+" + cluster("s0"))
	h.eventually("the others are forgotten", func() bool { return len(h.server.Sessions()) == 1 })
}

// TestMetadataIsKeptAsText: people may read what a node says of itself.
func TestMetadataIsKeptAsText(t *testing.T) {
	node := nodeOf("client-0.shop")
	if n, err := parseNode(node); err != nil || n.told.Metadata != nil {
		t.Errorf("of nothing there is %s, %v", n.told.Metadata, err)
	}
	node.Metadata = &structpb.Struct{Fields: map[string]*structpb.Value{
		"N": structpb.NewNumberValue(math.NaN()),
		"L": structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{structpb.NewBoolValue(true), structpb.NewNullValue()}}),
	}}
	n, err := parseNode(node)
	if err != nil {
		t.Fatal(err)
	}
	if have := string(n.told.Metadata); have != `{"L":[true,null],"N":"NaN"}` {
		t.Errorf("metadata is %s", have)
	}
}

// TestWhatAClientHadIsLetGo where no endpoints can be asked for, which it is kept for.
func TestWhatAClientHadIsLetGo(t *testing.T) {
	h := start(t, services(1))
	h.connect("client-1.shop")
	for _, single := range []bool{false, true} {
		n, err := parseNode(nodeOf("client-0.shop"))
		if err != nil {
			t.Fatal(err)
		}
		s := &stream{
			server: h.server, record: newRecord(session.Session{}), node: n, proxy: n.pinned.Proxy, delta: true, single: single,
			write: func(mem.BufferSlice) error { return nil },
		}
		s.settle(h.server.hub.join(s))
		if err := s.receive(&request{typeURL: typeCluster, initial: map[string]version{"x": 1}}); err != nil {
			t.Fatal(err)
		}
		if err := s.flush(); err != nil {
			t.Fatal(err)
		}
		if kept := s.had != nil; kept == single {
			t.Errorf("of one type only: %t, and what the client had is kept: %t", single, kept)
		}
	}
}

func wantEnd(t *testing.T, c *deltaClient, code codes.Code) {
	t.Helper()
	for {
		select {
		case <-c.got:
		case err := <-c.failed:
			if status.Code(err) != code {
				t.Errorf("got %v, want %s", err, code)
			}
			return
		case <-time.After(patience):
			t.Fatal("the stream goes on")
		}
	}
}

// TestStreamsOfOneProxyAreBounded: too many are refused, those that there are go on.
func TestStreamsOfOneProxyAreBounded(t *testing.T) {
	h := start(t, services(1))
	first := h.connect("client-0.shop", "s0")
	client := discoveryv3.NewAggregatedDiscoveryServiceClient(h.dial())
	refused := 0
	for range maxStreams + 9 {
		s, err := client.DeltaAggregatedResources(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeCluster, Node: nodeOf("client-0.shop")}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Recv(); status.Code(err) == codes.ResourceExhausted {
			refused++
		}
	}
	if refused != 10 {
		t.Errorf("%d streams were refused, want 10", refused)
	}
	h.connect("client-1.shop", "s0")
	h.put(slice("s0", "10.0.9.9"))
	first.expect("+" + cluster("s0"))
}

// TestSilentStreamsEnd opens a stream and says nothing.
func TestSilentStreamsEnd(t *testing.T) {
	h := start(t, services(1), func(h *harness) { h.options.SendTimeout = 50 * time.Millisecond })
	s, err := discoveryv3.NewAggregatedDiscoveryServiceClient(h.dial()).DeltaAggregatedResources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("ended with %v", err)
	}
}

// TestPodsOfOneNameInTwoClusters: they are one proxy, which is forgotten with the
// last stream, whichever that is.
func TestPodsOfOneNameInTwoClusters(t *testing.T) {
	h := start(t, services(1))
	connect := func(cluster string) *deltaClient {
		node := nodeOf("client-0.shop")
		node.Metadata = &structpb.Struct{Fields: map[string]*structpb.Value{"CLUSTER_ID": structpb.NewStringValue(cluster)}}
		c := h.delta("", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeCluster, Node: node})
		c.ack(c.next())
		return c
	}
	one, two := connect("Kubernetes"), connect("elsewhere")
	one.cancel()
	h.eventually("one is left", func() bool { return len(h.server.Sessions()) == 1 })
	h.put(rule)
	two.ack(two.expect("+" + cluster("s0")))
	two.cancel()
	h.eventually("the proxy is forgotten", func() bool { return h.core.Snapshot().Proxy("client-0.shop") == nil })
	h.put("---\napiVersion: v1\nkind: Pod\nmetadata: {name: client-0, namespace: shop}\nspec: {containers: [{name: app, image: app}]}\n")
	h.eventually("the Pod is read", func() bool { return h.core.Status().Waiting == 0 })
	if p := h.core.Snapshot().Proxy("client-0.shop"); p != nil {
		t.Errorf("the proxy of %s is there, though it is not connected and its Pod has none", p.Cluster)
	}
}

// TestEachOfOneNameIsServedItsOwn: of two Pods of one name the core keeps one, and the
// other is not served what that one may see.
func TestEachOfOneNameIsServedItsOwn(t *testing.T) {
	h := start(t, services(2)+`---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: narrow, namespace: shop}
spec: {workloadSelector: {labels: {app: narrow}}, egress: [{hosts: [./s1.shop.svc.cluster.local]}]}
`)
	connect := func(cluster, app string) (*deltaClient, string) {
		node := nodeOf("client-0.shop")
		node.Metadata = &structpb.Struct{Fields: map[string]*structpb.Value{
			"CLUSTER_ID": structpb.NewStringValue(cluster),
			"LABELS":     structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"app": structpb.NewStringValue(app)}}),
		}}
		c := h.delta("", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeCluster, Node: node})
		m := c.next()
		c.ack(m)
		return c, outbound(m)
	}
	for _, order := range [][2]string{{"Kubernetes", "elsewhere"}, {"elsewhere", "Kubernetes"}} {
		one, have := connect(order[0], "narrow")
		if want := "+" + cluster("s1"); have != want {
			t.Errorf("that of %s gets %s, want %s", order[0], have, want)
		}
		two, have := connect(order[1], "wide")
		if want := "+" + cluster("s0") + " +" + cluster("s1"); have != want {
			t.Errorf("that of %s gets %s, want %s", order[1], have, want)
		}
		h.put(strings.Replace(rule, "7", fmt.Sprint(len(order[0])), 1))
		two.expect("+" + cluster("s0"))
		one.nothing()
		one.cancel()
		two.cancel()
		h.eventually("both are forgotten", func() bool { return len(h.server.Sessions()) == 0 })
	}
}

// TestLongRefusalsAreCut keeps the beginning of what a client says.
func TestLongRefusalsAreCut(t *testing.T) {
	h := start(t, services(1))
	c := h.connect("client-0.shop", "s0")
	h.put(slice("s0", "10.0.0.2"))
	c.nack(c.expect("+"+cluster("s0")), "no: "+strings.Repeat("ü", maxReason))
	h.eventually("the refusal is known", func() bool { return status1(t, h, typeEndpoint).Error != "" })
	if have := status1(t, h, typeEndpoint).Error; len(have) > maxReason+10 || !strings.HasPrefix(have, "no: üü") || !strings.HasSuffix(have, "ü …") {
		t.Errorf("%d bytes are kept", len(have))
	}
}

// TestTicketsOfASilentClientAreBounded has a client that never answers, and more
// transitions than a journal has.
func TestTicketsOfASilentClientAreBounded(t *testing.T) {
	h := start(t, services(1))
	s := &stream{server: h.server}
	s.cursor = &news{done: make(chan struct{})}
	var deliveries []*journal.Delivery
	for range 3 * maxTickets {
		d := &journal.Delivery{}
		d.Affects(1)
		deliveries = append(deliveries, d)
		s.cursor.next = &news{done: make(chan struct{}), deliveries: []tracked{{delivery: d}}, names: func() []string { return nil }}
		s.next()
	}
	if n := len(s.tickets); n > maxTickets {
		t.Errorf("%d transitions wait", n)
	}
	s.settleTickets(false, time.Now())
	for i, d := range deliveries {
		if c := d.Counts(); c.Waiting() != 0 {
			t.Fatalf("transition %d is %+v", i, c)
		}
	}
	if c := deliveries[0].Counts(); c.Left != 1 {
		t.Errorf("the oldest is %+v", c)
	}
}
