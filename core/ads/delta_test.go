package ads

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/edsight/edsight/core/session"
)

const rule = `
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: s0, namespace: shop}
spec: {host: s0, trafficPolicy: {connectionPool: {tcp: {maxConnections: 7}}}}
`

func TestOnlyWhatChangedIsSent(t *testing.T) {
	h := start(t, services(3))
	c := h.connect("client-0.shop", "s0", "s1")
	h.put(slice("s1", "10.0.1.1", "10.0.1.2"))
	m := c.expect("+" + cluster("s1"))
	if have := addressesOf(t, m, cluster("s1")); !slices.Equal(have, []string{"10.0.1.1:8080", "10.0.1.2:8080"}) {
		t.Errorf("endpoints are %v", have)
	}
	c.ack(m)
	h.put(slice("s2", "10.0.2.9")) // not asked for
	c.nothing()
	h.put(slice("s1")) // an empty assignment is one, too
	m = c.expect("+" + cluster("s1"))
	if have := addressesOf(t, m, cluster("s1")); len(have) != 0 {
		t.Errorf("endpoints are %v, want none", have)
	}
}

func TestServicesComeAndGo(t *testing.T) {
	h := start(t, services(1))
	c := h.connect("client-0.shop", "s0")
	h.put(services(2))
	c.ack(c.expect("+" + cluster("s1")))
	h.put("$op: delete\napiVersion: v1\nkind: Service\nmetadata: {name: s0, namespace: shop}\n")
	c.ack(c.expect("-" + cluster("s0")))
	c.ack(c.expect("-" + cluster("s0"))) // its endpoints, which it still asks for
}

func TestInitialVersionsAreHonoured(t *testing.T) {
	h := start(t, services(3))
	c := h.delta("client-0.shop", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeCluster})
	clusters := versions(c.next())
	subscribe := []string{cluster("s0"), cluster("s1"), cluster("s2")}
	c.send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeEndpoint, ResourceNamesSubscribe: subscribe})
	endpoints := versions(c.next())
	c.cancel()
	h.put(slice("s1", "10.0.1.2"))
	h.put(rule)
	h.eventually("the change is published", func() bool { return h.core.Status().Waiting == 0 })
	clusters["outbound|80||gone.shop.svc.cluster.local"] = "1"

	again := h.delta("client-0.shop", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeCluster, InitialResourceVersions: clusters})
	again.ack(again.expect("+"+cluster("s0"), "-outbound|80||gone.shop.svc.cluster.local"))
	again.send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeEndpoint, ResourceNamesSubscribe: subscribe, InitialResourceVersions: endpoints})
	// Those of s1 changed, and for those of s0 the client waits, as its cluster came
	// anew.
	again.expect("+"+cluster("s0"), "+"+cluster("s1"))
}

func versions(m *discoveryv3.DeltaDiscoveryResponse) map[string]string {
	out := map[string]string{}
	for _, r := range m.GetResources() {
		out[r.GetName()] = r.GetVersion()
	}
	return out
}

func TestChangedClusterIsFollowedByItsEndpoints(t *testing.T) {
	h := start(t, services(2))
	c := h.connect("client-0.shop", "s0", "s1")
	h.put(rule)
	m := c.expect("+" + cluster("s0"))
	if m.GetTypeUrl() != typeCluster {
		t.Fatalf("first comes %s, want the cluster", m.GetTypeUrl())
	}
	m = c.expect("+" + cluster("s0"))
	if m.GetTypeUrl() != typeEndpoint {
		t.Errorf("then comes %s, want the endpoints", m.GetTypeUrl())
	}
}

// TestSubsetMoves changes what the endpoints of a cluster are, and not the cluster.
func TestSubsetMoves(t *testing.T) {
	subset := `
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: s0, namespace: shop}
spec: {host: s0, subsets: [{name: v, labels: {topology.istio.io/cluster: CLUSTER}}]}
`
	h := start(t, services(1)+"---"+strings.Replace(subset, "CLUSTER", "elsewhere", 1))
	c := h.connect("client-0.shop", "s0")
	name := "outbound|80|v|s0.shop.svc.cluster.local"
	c.send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeEndpoint, ResourceNamesSubscribe: []string{name}})
	m := c.expect("+" + name)
	if have := addressesOf(t, m, name); len(have) != 0 {
		t.Errorf("endpoints are %v, want none", have)
	}
	c.ack(m)
	h.put(strings.Replace(subset, "CLUSTER", "Kubernetes", 1))
	m = c.expect("+" + name)
	if have := addressesOf(t, m, name); m.GetTypeUrl() != typeEndpoint || len(have) != 1 {
		t.Errorf("%s comes with %v, want an assignment of one endpoint", m.GetTypeUrl(), have)
	}
}

func TestNamesAreAnsweredWhenAskedForAgain(t *testing.T) {
	h := start(t, services(2))
	c := h.connect("client-0.shop", "s0", "s1")
	c.send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeEndpoint, ResourceNamesUnsubscribe: []string{cluster("s0")}})
	c.nothing()
	h.put(slice("s0", "10.0.0.2"))
	c.nothing()
	c.send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeEndpoint, ResourceNamesSubscribe: []string{cluster("s0"), cluster("s1"), "nobody"}})
	c.expect("+"+cluster("s0"), "+"+cluster("s1"), "-nobody")
}

func TestOneMessageIsOnTheWay(t *testing.T) {
	h := start(t, services(2))
	c := h.connect("client-0.shop", "s0", "s1")
	h.put(slice("s0", "10.0.0.2"))
	m := c.expect("+" + cluster("s0"))
	h.put(slice("s0", "10.0.0.3"))
	h.put(slice("s1", "10.0.1.3"))
	h.put(slice("s0", "10.0.0.4"))
	c.nothing()
	c.ack(m)
	m = c.expect("+"+cluster("s0"), "+"+cluster("s1"))
	if have := addressesOf(t, m, cluster("s0")); !slices.Equal(have, []string{"10.0.0.4:8080"}) {
		t.Errorf("endpoints are %v, want the newest", have)
	}
}

// TestRefusalStands until what it names is sent again, or is not asked for any more.
func TestRefusalStands(t *testing.T) {
	h := start(t, services(3))
	c := h.connect("client-0.shop", "s0", "s1", "s2")
	status := func(want session.Status) {
		t.Helper()
		h.eventually("the status is "+string(want), func() bool { one := status1(t, h, typeEndpoint); return one.Status() == want })
	}
	refuse := func(i int) {
		t.Helper()
		h.put(slice("s0", fmt.Sprintf("10.0.0.%d", i)))
		c.nack(c.expect("+"+cluster("s0")), "no: "+cluster("s0")+" is bad")
		status(session.Error)
		h.put(slice("s1", fmt.Sprintf("10.0.1.%d", i)))
		c.ack(c.expect("+" + cluster("s1")))
		h.put(slice("s2", fmt.Sprintf("10.0.2.%d", i)))
		m := c.expect("+" + cluster("s2")) // so the answer to the one before is there
		status(session.Error)
		c.ack(m)
	}
	refuse(3)
	h.put(slice("s0", "10.0.0.9"))
	c.ack(c.expect("+" + cluster("s0")))
	status(session.Synced)
	refuse(4)
	c.send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeEndpoint, ResourceNamesUnsubscribe: []string{cluster("s0")}})
	h.eventually("the name is given up", func() bool { return status1(t, h, typeEndpoint).Names == 2 })
	h.put(slice("s1", "10.0.1.7"))
	c.ack(c.expect("+" + cluster("s1")))
	status(session.Synced)
}

func TestMentions(t *testing.T) {
	const name = "outbound|80||api.example.com"
	for text, want := range map[string]bool{
		name:                            true,
		"bad: " + name + ": no":         true,
		"('" + name + "')":              true,
		"no " + name + ".":              true,
		name + ".au, " + name + " fail": true,
		name + ".au":                    false,
		"x" + name:                      false,
		name + "-2 fails":               false,
		"nothing":                       false,
	} {
		if have := mentions(text, name); have != want {
			t.Errorf("%q: %t", text, have)
		}
	}
}

func TestRefusalIsKnown(t *testing.T) {
	h := start(t, services(1))
	c := h.connect("client-0.shop", "s0")
	tr := h.apply(slice("s0", "10.0.0.2"))
	c.nack(c.expect("+"+cluster("s0")), "no, thanks")
	d := h.delivered(tr)
	if d.Affected != 1 || d.Rejected != 1 || len(d.Rejections) != 1 {
		t.Fatalf("delivery is %+v", d)
	}
	if r := d.Rejections[0]; r.Proxy != "client-0.shop" || r.Message != "no, thanks" || r.Type != typeEndpoint {
		t.Errorf("refusal is %+v", r)
	}
	if s := status1(t, h, typeEndpoint); s.Error != "no, thanks" || s.Status() != session.Error {
		t.Errorf("status is %+v", s)
	}
	h.put(slice("s0", "10.0.0.3"))
	c.ack(c.expect("+" + cluster("s0")))
	h.eventually("the session is well again", func() bool {
		s := status1(t, h, typeEndpoint)
		return s.Error == "" && s.Status() == session.Synced
	})
}

// status1 is the status of a type of the only session.
func status1(t *testing.T, h *harness, typeURL string) session.Type {
	t.Helper()
	all := h.server.Sessions()
	if len(all) != 1 {
		t.Fatalf("there are %d sessions", len(all))
	}
	for _, s := range all[0].Types {
		if s.URL == typeURL {
			return s
		}
	}
	t.Fatalf("%s is not asked for", typeURL)
	return session.Type{}
}

func TestDeliveryCountsThoseConcerned(t *testing.T) {
	h := start(t, services(2)+`---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: small, namespace: shop}
spec: {workloadSelector: {labels: {app: small}}, egress: [{hosts: [./s1.shop.svc.cluster.local]}]}
---
apiVersion: v1
kind: Pod
metadata: {name: small-0, namespace: shop, labels: {app: small}}
spec: {containers: [{name: app, image: app}]}
status: {phase: Running, podIP: 10.8.0.1}
`)
	large := h.connect("client-0.shop", "s0", "s1")
	small := h.connect("small-0.shop", "s1")
	tr := h.apply(slice("s0", "10.0.0.2"))
	large.ack(large.expect("+" + cluster("s0")))
	if d := h.delivered(tr); d.Affected != 1 || d.Acked != 1 {
		t.Errorf("delivery is %+v, want one of one", d)
	}
	small.nothing()
	tr = h.apply(slice("s1", "10.0.1.2"))
	large.ack(large.expect("+" + cluster("s1")))
	small.expect("+" + cluster("s1"))
	h.eventually("one has answered", func() bool { return h.core.Journal().Delivery(tr.Seq).Counts().Acked == 1 })
	small.cancel()
	if d := h.delivered(tr); d.Affected != 2 || d.Acked != 1 || d.Left != 1 {
		t.Errorf("delivery is %+v, want one answer and one that left", d)
	}
}

func TestProxyIsLookedAtAnewWhenItsPodChanges(t *testing.T) {
	pod := `---
apiVersion: v1
kind: Pod
metadata: {name: client-0, namespace: shop, labels: {app: APP}}
spec: {containers: [{name: app, image: app}]}
status: {phase: Running, podIP: 10.8.0.1}
`
	h := start(t, services(2)+strings.Replace(pod, "APP", "other", 1)+`---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: small, namespace: shop}
spec: {workloadSelector: {labels: {app: small}}, egress: [{hosts: [./s1.shop.svc.cluster.local]}]}
`)
	c := h.connect("client-0.shop", "s1")
	h.put(strings.Replace(pod, "APP", "small", 1))
	c.expect("-" + cluster("s0"))
}

func TestTwoStreamsOfOneProxy(t *testing.T) {
	h := start(t, services(1))
	a, b := h.connect("client-0.shop", "s0"), h.connect("client-0.shop", "s0")
	h.put(slice("s0", "10.0.0.2"))
	a.ack(a.expect("+" + cluster("s0")))
	b.ack(b.expect("+" + cluster("s0")))
	a.cancel()
	h.eventually("one is left", func() bool { return len(h.server.Sessions()) == 1 })
	h.put(slice("s0", "10.0.0.3"))
	b.expect("+" + cluster("s0"))
	if h.core.Snapshot().Proxy("client-0.shop") == nil {
		t.Error("the proxy is forgotten though a stream of it is left")
	}
	b.cancel()
	h.eventually("the proxy is forgotten", func() bool { return h.core.Snapshot().Proxy("client-0.shop") == nil })
}

func TestUnknownTypeIsAnswered(t *testing.T) {
	h := start(t, services(1))
	c := h.connect("client-0.shop")
	c.send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: "type.googleapis.com/nobody.knows", ResourceNamesSubscribe: []string{"x"}})
	c.expect("-x")
}

func TestMalformedNodesAreRefused(t *testing.T) {
	h := start(t, services(1))
	for _, id := range []string{"x", "sidecar~10.0.0.1~pod~d", "sidecar~x~pod.ns~d", "sidecar~~pod.ns~d", "sidecar~10.0.0.1~.ns~d", "gateway~10.0.0.1~pod.ns~d", strings.Repeat("~", 900)} {
		node := nodeOf("x.y")
		node.Id = id
		c := h.delta("", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeCluster, Node: node})
		if err := <-c.failed; status.Code(err) != codes.InvalidArgument {
			t.Errorf("node %.20q: %v, want an invalid argument", id, err)
		}
	}
	c := h.delta("", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeCluster})
	if err := <-c.failed; status.Code(err) != codes.InvalidArgument {
		t.Errorf("no node: %v, want an invalid argument", err)
	}
}

func TestDisconnect(t *testing.T) {
	h := start(t, services(1))
	c := h.connect("client-0.shop")
	if n := h.server.Disconnect("client-0.shop"); n != 1 {
		t.Errorf("%d streams were ended, want 1", n)
	}
	if err := <-c.failed; status.Code(err) != codes.Unavailable {
		t.Errorf("stream ended with %v", err)
	}
	if n := h.server.Disconnect("client-0.shop"); n != 0 {
		h.eventually("the session is gone", func() bool { return len(h.server.Sessions()) == 0 })
	}
}

// TestPushSendsEverythingAgain: also to a client that has it; and what went at the
// same time is said.
func TestPushSendsEverythingAgain(t *testing.T) {
	h := start(t, services(2))
	c := h.connect("client-0.shop", "s0")
	world := h.sotw("client-1.shop")
	world.answer(world.expect(cluster("s0"), cluster("s1")))
	h.server.Push()
	m := c.next()
	if have := outbound(m); have != "+"+cluster("s0")+" +"+cluster("s1") {
		t.Errorf("first comes %s, want all clusters", have)
	}
	c.ack(c.expect("+" + cluster("s0"))) // the endpoints it asks for
	world.answer(world.expect(cluster("s0"), cluster("s1")))
	// One that has not answered is told later, of both at once.
	h.put("$op: delete\napiVersion: v1\nkind: Service\nmetadata: {name: s1, namespace: shop}\n")
	world.answer(world.expect(cluster("s0")))
	h.server.Push()
	world.answer(world.expect(cluster("s0")))
	c.ack(c.expect("+" + cluster("s0"))) // endpoints wait for endpoints only
	c.ack(m)
	if have := outbound(c.next()); have != "+"+cluster("s0")+" -"+cluster("s1") {
		t.Errorf("then comes %s, want what is there and the end of what went", have)
	}
}
