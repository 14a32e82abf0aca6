package ads

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	adminv3 "github.com/envoyproxy/go-control-plane/envoy/admin/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	statusv3 "github.com/envoyproxy/go-control-plane/envoy/service/status/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// asCaller makes everybody who calls this one.
func asCaller(c Caller) func(*harness) {
	return func(h *harness) { h.who = func(context.Context) (Caller, error) { return c, nil } }
}

// ask sends one debug request as istioctl does, and returns the answer.
func (h *harness) ask(typeURL string, names ...string) (*discoveryv3.DiscoveryResponse, error) {
	h.t.Helper()
	s, err := discoveryv3.NewAggregatedDiscoveryServiceClient(h.dial()).StreamAggregatedResources(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	if err := s.Send(&discoveryv3.DiscoveryRequest{
		Node: nodeOf("test-1.default"), TypeUrl: typeURL, ResourceNames: names,
	}); err != nil {
		h.t.Fatal(err)
	}
	return s.Recv()
}

func TestSyncz(t *testing.T) {
	h := start(t, services(1), asCaller(Caller{Name: "admin", All: true}), func(h *harness) {
		h.options.Name, h.options.Version = "host-1", "v9"
	})
	c := h.connect("client-0.shop", "s0")
	h.put(slice("s0", "10.0.0.2"))
	c.nack(c.expect("+"+cluster("s0")), "no")
	h.eventually("the refusal is known", func() bool { return status1(t, h, typeEndpoint).Error != "" })
	m, err := h.ask(typeSyncz)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.GetResources()) != 1 || m.GetTypeUrl() != typeSyncz {
		t.Fatalf("answer is %v", m)
	}
	cfg := &statusv3.ClientConfig{}
	if err := m.GetResources()[0].UnmarshalTo(cfg); err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, g := range cfg.GetGenericXdsConfigs() {
		have = append(have, shortName(g.GetTypeUrl())+" "+g.GetConfigStatus().String())
	}
	if cfg.GetNode().GetId() != "client-0.shop" || !slices.Equal(have, []string{"cds SYNCED", "eds ERROR"}) {
		t.Errorf("status of %s is %v", cfg.GetNode().GetId(), have)
	}
	if have := m.GetControlPlane().GetIdentifier(); have != `{"Component":"edsight","ID":"host-1","Info":{"version":"v9"}}` {
		t.Errorf("the server says that it is %s", have)
	}
	if n := len(h.server.Sessions()); n != 1 {
		t.Errorf("%d sessions: who asks is counted as a proxy", n)
	}
}

func TestConfigDump(t *testing.T) {
	h := start(t, services(1), asCaller(Caller{Name: "sa", Namespace: "shop", Proved: true}))
	h.connect("client-0.shop")
	m, err := h.ask(typeDump, "client-0.shop")
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	dump := &adminv3.ClustersConfigDump{}
	for _, r := range m.GetResources() {
		parts = append(parts, strings.TrimPrefix(r.GetTypeUrl(), typePrefix+"envoy.admin.v3."))
		if r.MessageIs(dump) {
			if err := r.UnmarshalTo(dump); err != nil {
				t.Fatal(err)
			}
		}
	}
	if want := []string{"ListenersConfigDump", "RoutesConfigDump", "ClustersConfigDump", "EndpointsConfigDump"}; !slices.Equal(parts, want) {
		t.Errorf("the dump has %v, want %v", parts, want)
	}
	if n := len(dump.GetDynamicActiveClusters()); n != 4 {
		t.Errorf("the dump has %d clusters", n)
	}
	for _, names := range [][]string{nil, {"a", "b"}, {"nobody.shop"}} {
		if _, err := h.ask(typeDump, names...); err == nil {
			t.Errorf("%v is answered", names)
		}
	}
}

func TestDebugHandlers(t *testing.T) {
	h := start(t, services(1), asCaller(Caller{Name: "admin", All: true}), func(h *harness) {
		h.options.Debug = func(_ context.Context, c Caller, name string) ([]byte, error) {
			switch name {
			case "secret":
				return nil, errors.New("not for " + c.Name)
			case "nothing":
				return nil, status.Error(codes.NotFound, "there is only edsz")
			}
			return []byte("body of " + name), nil
		}
	})
	m, err := h.ask(typeDebug, "edsz?proxyID=a.b")
	if err != nil || len(m.GetResources()) != 1 || m.GetResources()[0].GetTypeUrl() != typeDebug ||
		string(m.GetResources()[0].GetValue()) != "body of edsz?proxyID=a.b" {
		t.Errorf("answer is %v, %v", m, err)
	}
	if _, err := h.ask(typeDebug, "secret"); status.Code(err) != codes.PermissionDenied {
		t.Errorf("what is refused: %v", err)
	}
	if _, err := h.ask(typeDebug, "nothing"); status.Code(err) != codes.NotFound || !strings.Contains(err.Error(), "there is only edsz") {
		t.Errorf("what is not there: %v", err)
	}
	if _, err := h.ask(typeDebug); status.Code(err) != codes.InvalidArgument {
		t.Errorf("without a name: %v", err)
	}
}

// TestDebugQuestionsAreRepeated asks the same on one stream, with and without an
// acknowledgement between.
func TestDebugQuestionsAreRepeated(t *testing.T) {
	h := start(t, services(1), asCaller(Caller{Name: "admin", All: true}), func(h *harness) {
		h.options.Debug = func(_ context.Context, _ Caller, name string) ([]byte, error) { return []byte(name), nil }
	})
	h.connect("client-0.shop")
	s, err := discoveryv3.NewAggregatedDiscoveryServiceClient(h.dial()).StreamAggregatedResources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range []*discoveryv3.DiscoveryRequest{
		{TypeUrl: typeDebug, ResourceNames: []string{"edsz"}},
		{TypeUrl: typeDebug, ResourceNames: []string{"edsz"}},
		{TypeUrl: typeDump, ResourceNames: []string{"client-0.shop"}},
		{TypeUrl: typeDump, ResourceNames: []string{"client-0.shop"}},
		{TypeUrl: typeDebug, ResourceNames: []string{"edsz"}},
	} {
		if err := s.Send(r); err != nil {
			t.Fatal(err)
		}
		m, err := s.Recv()
		if err != nil {
			t.Fatalf("question %d: %v", i, err)
		}
		if i == 1 {
			err = s.Send(&discoveryv3.DiscoveryRequest{TypeUrl: r.GetTypeUrl(), ResourceNames: r.GetResourceNames(), ResponseNonce: m.GetNonce()})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// unread is the stream of a client that does not read.
type unread struct{ scripted }

func (s *unread) SendMsg(any) error {
	<-s.ctx.Done()
	return s.ctx.Err()
}

// TestDebugAnswersNobodyReads end after a while.
func TestDebugAnswersNobodyReads(t *testing.T) {
	h := start(t, services(1), func(h *harness) { h.options.SendTimeout = 50 * time.Millisecond })
	b, err := proto.Marshal(&discoveryv3.DiscoveryRequest{TypeUrl: typeSyncz})
	if err != nil {
		t.Fatal(err)
	}
	s := &unread{scripted{ctx: t.Context(), says: [][]byte{b}, told: make(chan struct{})}}
	err = h.server.serve(&reader{stream: s, hashes: map[string]uint64{}}, Caller{All: true})
	if status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("ended with %v", err)
	}
}

// TestEnvoyBesideALibrary: each of a Pod's clients gets what is for its kind, in
// whichever order they come.
func TestEnvoyBesideALibrary(t *testing.T) {
	const headless = "---\napiVersion: v1\nkind: Service\nmetadata: {name: db, namespace: shop}\nspec: {clusterIP: None, ports: [{name: http, port: 80}]}\n"
	h := start(t, services(1)+headless)
	types := func(m *discoveryv3.DeltaDiscoveryResponse) map[string]clusterv3.Cluster_DiscoveryType {
		out := map[string]clusterv3.Cluster_DiscoveryType{}
		for _, r := range m.GetResources() {
			c := &clusterv3.Cluster{}
			if err := r.GetResource().UnmarshalTo(c); err != nil {
				t.Fatal(err)
			}
			out[c.GetName()] = c.GetType()
		}
		return out
	}
	get := func(c *deltaClient) map[string]clusterv3.Cluster_DiscoveryType {
		m := c.next()
		c.ack(m)
		return types(m)
	}
	library := nodeOf("client-0.shop")
	library.Metadata = &structpb.Struct{Fields: map[string]*structpb.Value{"GENERATOR": structpb.NewStringValue("grpc")}}
	envoy := h.delta("client-0.shop", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeCluster})
	if have := get(envoy)[cluster("db")]; have != clusterv3.Cluster_ORIGINAL_DST {
		t.Errorf("the Envoy has %v", have)
	}
	beside := h.delta("", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeCluster, Node: library, ResourceNamesSubscribe: []string{cluster("db")}})
	if have := get(beside)[cluster("db")]; have != clusterv3.Cluster_EDS {
		t.Errorf("the library has %v", have)
	}
	h.apply(services(2)) // s1 comes, and it alone
	if have := get(envoy); len(have) != 1 || have[cluster("s1")] != clusterv3.Cluster_EDS {
		t.Errorf("the Envoy is sent %v", have)
	}
	h.connect("client-0.shop")
	if have := get(h.delta("", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeCluster, Node: library, ResourceNamesSubscribe: []string{cluster("db")}})); have[cluster("db")] != clusterv3.Cluster_EDS {
		t.Errorf("a library that comes last has %v", have)
	}
}

// TestConfigDumpOfALibrary is refused: it has other messages than an Envoy.
func TestConfigDumpOfALibrary(t *testing.T) {
	h := start(t, services(1), asCaller(Caller{Name: "admin", All: true}))
	node := nodeOf("client-0.shop")
	node.Metadata = &structpb.Struct{Fields: map[string]*structpb.Value{"GENERATOR": structpb.NewStringValue("grpc")}}
	c := h.delta("", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeListener, Node: node, ResourceNamesSubscribe: []string{"s0.shop.svc.cluster.local:80"}})
	c.ack(c.next())
	if _, err := h.ask(typeDump, "client-0.shop"); status.Code(err) != codes.Unimplemented {
		t.Errorf("answered with %v", err)
	}
	h.connect("client-0.shop") // an Envoy beside it
	if _, err := h.ask(typeDump, "client-0.shop"); err != nil {
		t.Errorf("with an Envoy: %v", err)
	}
}

func TestDebugIsNotForStrangers(t *testing.T) {
	h := start(t, services(1))
	h.connect("client-0.shop")
	for _, typeURL := range []string{typeDebug, typeSyncz, typeDump} {
		if _, err := h.ask(typeURL, "client-0.shop"); status.Code(err) != codes.PermissionDenied {
			t.Errorf("%s for an anonymous caller: %v", typeURL, err)
		}
	}
}

func TestCallersSeeTheirNamespace(t *testing.T) {
	h := start(t, services(1), asCaller(Caller{Name: "sa", Namespace: "elsewhere", Proved: true}))
	c := h.delta("client-0.shop", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeCluster})
	if err := <-c.failed; status.Code(err) != codes.PermissionDenied {
		t.Errorf("a proxy of another namespace: %v", err)
	}
	mine := h.connect("client-0.elsewhere")
	defer mine.cancel()
	if _, err := h.ask(typeDump, "client-0.shop"); status.Code(err) != codes.NotFound {
		t.Errorf("config dump of another namespace: %v", err)
	}
	m, err := h.ask(typeSyncz)
	if err != nil || len(m.GetResources()) != 1 {
		t.Errorf("syncz has %d proxies, %v; want the one of the namespace", len(m.GetResources()), err)
	}
}

func TestNamesOfASession(t *testing.T) {
	h := start(t, services(2))
	h.connect("client-0.shop", "s0", "s1")
	id := h.server.Sessions()[0].ID
	if have := h.server.Names(id)[typeEndpoint]; !slices.Equal(have, []string{cluster("s0"), cluster("s1")}) {
		t.Errorf("names are %v", have)
	}
	if have := h.server.Names("nobody"); have != nil {
		t.Errorf("names of nobody are %v", have)
	}
}
