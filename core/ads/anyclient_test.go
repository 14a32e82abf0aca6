package ads

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"pgregory.net/rapid"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/session"
)

// TestAnyClientHasItsView has a client of either protocol do what it may do, in any
// order, while the mesh changes: it asks and gives up, by name and for all, answers
// late, refuses, and comes back with or without what it had. When nothing is left to
// be said it has what it asks for, waits for no endpoints, and nobody waits for it.
func TestAnyClientHasItsView(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		m := newAnyClient(t, r)
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			m.step()
		}
		m.settle()
		m.check()
		m.stream.leave()
		for _, tr := range m.core.Journal().Since(1, 1<<20).Transitions {
			if d := m.core.Journal().Delivery(tr.Seq).Counts(); d.Waiting() != 0 || d.Sent != 0 {
				r.Fatalf("transition %d waits: %+v", tr.Seq, d)
			}
		}
	})
}

// anyClient is a client, and the server whose turns it takes.
type anyClient struct {
	r      *rapid.T
	core   *coretest.Core
	server *Server
	next   uint64 // of the journal, for the server
	delta  bool

	stream *stream
	hashes map[string]uint64
	wire   [][]byte // messages on their way to the client

	// What the client asks for by type, whether it did so on this stream, its last
	// nonces, and what it has: content with its version.
	asks     map[string]map[string]bool
	asked    map[string]bool
	nonces   map[string]string
	has      map[string]map[string]string
	versions map[string]map[string]string
	warming  map[string]bool
}

func newAnyClient(t *testing.T, r *rapid.T) *anyClient {
	t.Helper()
	m := &anyClient{r: r, core: coretest.New(t), next: 1, delta: rapid.Bool().Draw(r, "delta")}
	m.core.Apply(services(2))
	m.server = New(m.core, Options{})
	m.asks = map[string]map[string]bool{typeCluster: {}, typeEndpoint: {}}
	m.forget()
	m.publish(math.MaxInt)
	m.connect()
	return m
}

func (m *anyClient) forget() {
	m.has = map[string]map[string]string{typeCluster: {}, typeEndpoint: {}}
	m.versions = map[string]map[string]string{typeCluster: {}, typeEndpoint: {}}
	m.warming = map[string]bool{}
}

// publish has the server read so much of the journal.
func (m *anyClient) publish(limit int) {
	b := m.core.Journal().Since(m.next, limit)
	m.server.publish(b)
	m.next = b.Next
}

// lose has the server read the last of the journal alone.
func (m *anyClient) lose() {
	if last := m.core.Journal().Last(); last > m.next {
		b := m.core.Journal().Since(last, 1)
		b.Gap = &journal.Gap{From: m.next, To: last - 1}
		m.server.publish(b)
		m.next = b.Next
	}
}

// connect starts a stream, on which the client asks for what it wants.
func (m *anyClient) connect() {
	n, err := parseNode(nodeOf("client-0.shop"))
	if err != nil {
		m.r.Fatal(err)
	}
	m.hashes, m.wire = map[string]uint64{}, nil
	m.asked, m.nonces = map[string]bool{}, map[string]string{}
	m.stream = &stream{
		server: m.server, record: newRecord(session.Session{}), node: n, delta: m.delta, kick: make(chan struct{}, 1),
		write: func(b mem.BufferSlice) error { m.wire = append(m.wire, b.Materialize()); return nil },
	}
	if _, err := m.server.connect(m.stream); err != nil {
		m.r.Fatal(err)
	}
	m.core.Flush()
	m.stream.proxy = m.core.Snapshot().Proxy("client-0.shop")
	m.stream.settle(m.server.hub.join(m.stream))
	types := []string{typeCluster, typeEndpoint}
	if rapid.Bool().Draw(m.r, "endpoints first") {
		slices.Reverse(types)
	}
	for _, typeURL := range types {
		if len(m.asks[typeURL]) > 0 {
			m.ask(typeURL, slices.Sorted(maps.Keys(m.asks[typeURL])), nil)
		}
	}
}

func (m *anyClient) step() {
	switch rapid.SampledFrom([]string{"ask", "ask", "take", "take", "take", "change", "change", "publish", "publish", "lose", "read", "read", "come back"}).Draw(m.r, "do") {
	case "ask":
		m.askSome()
	case "take":
		m.take(rapid.IntRange(0, 5).Draw(m.r, "refuse") == 0)
	case "change":
		m.core.Apply(m.change())
	case "publish":
		if rapid.IntRange(0, 9).Draw(m.r, "push") == 0 {
			m.core.Push()
			m.core.Flush()
		}
		m.publish(rapid.IntRange(1, 9).Draw(m.r, "transitions"))
	case "lose":
		m.lose()
	case "read":
		m.read()
	case "come back":
		m.stream.leave()
		m.server.release(m.stream)
		if !m.delta || rapid.Bool().Draw(m.r, "forgetful") {
			m.forget()
		}
		m.connect()
	}
}

// read is what a stream does when it is woken.
func (m *anyClient) read() {
	m.stream.read()
	m.flush()
}

func (m *anyClient) flush() {
	if err := m.stream.flush(); err != nil {
		m.r.Fatal(err)
	}
}

// change is a random change of the mesh.
func (m *anyClient) change() string {
	i := rapid.IntRange(0, 2).Draw(m.r, "service")
	name := fmt.Sprintf("s%d", i)
	gone := rapid.SampledFrom([]string{"", "", "$op: delete\n"}).Draw(m.r, "gone")
	switch rapid.IntRange(0, 7).Draw(m.r, "what") {
	case 0, 1:
		return gone + fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: %s, namespace: shop}\nspec: {clusterIP: 10.1.0.%d, ports: [{name: http, port: 80}]}\n", name, i+1)
	case 2:
		return gone + fmt.Sprintf("apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: %s, namespace: shop}\nspec: {host: %s, trafficPolicy: {connectionPool: {tcp: {maxConnections: %d}}}}\n",
			name, name, rapid.IntRange(1, 3).Draw(m.r, "connections"))
	case 3:
		return gone + fmt.Sprintf("apiVersion: networking.istio.io/v1\nkind: Sidecar\nmetadata: {name: some, namespace: shop}\nspec: {workloadSelector: {labels: {app: client}}, egress: [{hosts: [./%s.shop.svc.cluster.local]}]}\n", name)
	case 4:
		return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: client-0, namespace: shop, labels: {app: %s}}\nspec: {containers: [{name: app}]}\nstatus: {phase: Running, podIP: 10.9.0.1}\n",
			rapid.SampledFrom([]string{"client", "other"}).Draw(m.r, "label"))
	}
	return slice(name, slices.Repeat([]string{fmt.Sprintf("10.0.%d.%d", i, rapid.IntRange(1, 3).Draw(m.r, "ip"))}, rapid.IntRange(0, 1).Draw(m.r, "endpoints"))...)
}

var anyNames = []string{cluster("s0"), cluster("s1"), cluster("s2"), "nobody", "PassthroughCluster"}

// askSome changes what the client asks for.
func (m *anyClient) askSome() {
	typeURL := rapid.SampledFrom([]string{typeCluster, typeEndpoint, typeEndpoint}).Draw(m.r, "type")
	names := anyNames
	if typeURL == typeCluster {
		names = append([]string{wildcard, wildcard}, names...)
	}
	add := rapid.SliceOfN(rapid.SampledFrom(names), 0, 3).Draw(m.r, "subscribe")
	drop := rapid.SliceOfN(rapid.SampledFrom(names), 0, 2).Draw(m.r, "unsubscribe")
	if typeURL == typeEndpoint && !m.asked[typeURL] && len(add) == 0 {
		return
	}
	m.ask(typeURL, add, drop)
}

// ask sends a request, and does on the client's side what it means.
func (m *anyClient) ask(typeURL string, add, drop []string) {
	first := !m.asked[typeURL]
	m.asked[typeURL] = true
	asks := m.asks[typeURL]
	for _, n := range drop {
		delete(asks, n)
	}
	if m.delta {
		m.letGo(typeURL) // of what is asked for again, too: it has to come again
	}
	for _, n := range add {
		asks[n] = true
	}
	m.letGo(typeURL)
	if !m.delta {
		names := slices.Sorted(maps.Keys(asks))
		if first && len(names) == 0 && typeURL == typeCluster {
			asks[wildcard] = true
		}
		m.send(&discoveryv3.DiscoveryRequest{TypeUrl: typeURL, ResourceNames: names, ResponseNonce: m.nonces[typeURL]})
		return
	}
	r := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeURL, ResourceNamesSubscribe: add, ResourceNamesUnsubscribe: drop}
	if first {
		r.InitialResourceVersions = maps.Clone(m.versions[typeURL])
		if typeURL == typeEndpoint {
			for n := range m.warming {
				delete(r.InitialResourceVersions, n) // the last stream ended before they came
			}
		}
		if len(add)+len(drop) == 0 {
			asks[wildcard] = true
		}
	}
	m.send(r)
}

// wants tells whether a name is asked for, alone or with all.
func (m *anyClient) wants(typeURL, name string) bool {
	return m.asks[typeURL][name] || m.asks[typeURL][wildcard]
}

// letGo drops what the client does not ask for.
func (m *anyClient) letGo(typeURL string) {
	given := func(n, _ string) bool { return !m.wants(typeURL, n) }
	maps.DeleteFunc(m.has[typeURL], given)
	maps.DeleteFunc(m.versions[typeURL], given)
	if typeURL == typeCluster {
		maps.DeleteFunc(m.warming, func(n string, _ bool) bool { return !m.wants(typeURL, n) })
	}
}

// send has the server take a request in.
func (m *anyClient) send(p proto.Message) {
	b, err := proto.Marshal(p)
	if err != nil {
		m.r.Fatal(err)
	}
	var r *request
	if m.delta {
		r, err = decodeDelta(b)
	} else {
		r, err = decodeSotW(b, func(typeURL string) (uint64, bool) { h, ok := m.hashes[typeURL]; return h, ok })
		m.hashes[r.typeURL] = r.hash
	}
	if err != nil {
		m.r.Fatal(err)
	}
	if err := m.stream.receive(r); err != nil {
		m.r.Fatal(err)
	}
	m.flush()
}

// take has the client take the next message, and answer. It tells whether there was
// one.
func (m *anyClient) take(refuse bool) bool {
	if len(m.wire) == 0 {
		return false
	}
	b := m.wire[0]
	m.wire = m.wire[1:]
	var detail *rpcstatus.Status
	if refuse {
		detail = &rpcstatus.Status{Code: 3, Message: "no"}
	}
	if m.delta {
		r := &discoveryv3.DeltaDiscoveryResponse{}
		m.unmarshal(b, r)
		seen := map[string]bool{}
		for _, one := range r.GetResources() {
			if seen[one.GetName()] {
				m.r.Fatalf("%s comes twice", one.GetName())
			}
			seen[one.GetName()] = true
			m.keep(r.GetTypeUrl(), one.GetName(), one.GetVersion(), one.GetResource().GetValue())
		}
		for _, n := range r.GetRemovedResources() {
			if seen[n] {
				m.r.Fatalf("%s comes, and goes or comes again in one message", n)
			}
			seen[n] = true
			m.drop(r.GetTypeUrl(), n)
		}
		m.send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: r.GetTypeUrl(), ResponseNonce: r.GetNonce(), ErrorDetail: detail})
		return true
	}
	r := &discoveryv3.DiscoveryResponse{}
	m.unmarshal(b, r)
	m.nonces[r.GetTypeUrl()] = r.GetNonce()
	seen := map[string]bool{}
	for _, one := range r.GetResources() {
		name := nameOf(m.r, one)
		seen[name] = true
		m.keep(r.GetTypeUrl(), name, "", one.GetValue())
	}
	if r.GetTypeUrl() == typeCluster {
		for n := range m.has[typeCluster] {
			if !seen[n] {
				m.drop(typeCluster, n)
			}
		}
	}
	names := slices.Sorted(maps.Keys(m.asks[r.GetTypeUrl()]))
	m.send(&discoveryv3.DiscoveryRequest{TypeUrl: r.GetTypeUrl(), ResourceNames: names, ResponseNonce: r.GetNonce(), ErrorDetail: detail})
	return true
}

func (m *anyClient) unmarshal(b []byte, to proto.Message) {
	if err := proto.Unmarshal(b, to); err != nil {
		m.r.Fatal(err)
	}
}

func (m *anyClient) keep(typeURL, name, version string, content []byte) {
	if !m.wants(typeURL, name) {
		return // given up meanwhile
	}
	if typeURL == typeEndpoint {
		delete(m.warming, name)
	} else if m.has[typeURL][name] != string(content) {
		c := &clusterv3.Cluster{}
		m.unmarshal(content, c)
		delete(m.warming, name)
		if c.GetType() == clusterv3.Cluster_EDS {
			m.warming[name] = true
		}
	}
	m.has[typeURL][name], m.versions[typeURL][name] = string(content), version
}

func (m *anyClient) drop(typeURL, name string) {
	delete(m.has[typeURL], name)
	delete(m.versions[typeURL], name)
	if typeURL == typeCluster {
		delete(m.warming, name)
	}
}

// settle goes on until there is nothing to be said.
func (m *anyClient) settle() {
	m.publish(math.MaxInt)
	m.read()
	for m.take(false) {
		m.read()
	}
}

// check holds what the client has to what it should have.
func (m *anyClient) check() {
	snap := m.core.Snapshot()
	should := map[string]map[string]string{typeCluster: {}, typeEndpoint: {}}
	for _, c := range cds.Build(snap, snap.Proxy("client-0.shop")) {
		r, err := marshalCluster(&c, snap.Mesh, false)
		if err != nil {
			m.r.Fatal(err)
		}
		should[typeCluster][c.Name] = string(contentOf(m.r, r))
		if a := c.Assignment(); a != nil {
			should[typeEndpoint][c.Name] = string(a.Bytes())
		}
	}
	for typeURL, all := range should {
		asks := m.asks[typeURL]
		maps.DeleteFunc(all, func(n, _ string) bool { return !m.wants(typeURL, n) })
		have := maps.Clone(m.has[typeURL])
		if !m.delta && typeURL == typeEndpoint {
			maps.DeleteFunc(have, func(n, _ string) bool { _, ok := all[n]; return !ok }) // that it went cannot be said
		}
		if !maps.Equal(all, have) {
			m.r.Fatalf("of %s, asked for as %v, it has %q and should have %q", typeURL, asks, slices.Sorted(maps.Keys(have)), slices.Sorted(maps.Keys(all)))
		}
	}
	for n := range m.warming {
		if m.asks[typeEndpoint][n] {
			m.r.Fatalf("%s waits for its endpoints", n)
		}
	}
}

// nameOf is the name that a resource has in itself.
func nameOf(r *rapid.T, one *anypb.Any) string {
	m, err := one.UnmarshalNew()
	if err != nil {
		r.Fatal(err)
	}
	switch v := m.(type) {
	case *clusterv3.Cluster:
		return v.GetName()
	case *endpointv3.ClusterLoadAssignment:
		return v.GetClusterName()
	}
	r.Fatalf("a %T comes", m)
	return ""
}

// contentOf is the message of a resource.
func contentOf(r *rapid.T, one *resource) []byte {
	m := &discoveryv3.DiscoveryResponse{}
	if err := proto.Unmarshal((&response{resources: []*resource{one}}).message().Materialize(), m); err != nil {
		r.Fatal(err)
	}
	return m.GetResources()[0].GetValue()
}
