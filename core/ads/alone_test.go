package ads

import (
	"strings"
	"testing"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/edsight/edsight/core/state"
)

const labelled = `
apiVersion: v1
kind: Pod
metadata: {name: client-0, namespace: shop, labels: {app: LABEL}}
spec: {containers: [{name: istio-proxy}]}
status: {phase: Running, podIP: 10.9.0.1}
---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: narrow, namespace: shop}
spec: {workloadSelector: {labels: {app: narrow}}, egress: [{hosts: [./s1.shop.svc.cluster.local]}]}
`

func podWith(label string) string { return strings.Replace(labelled, "LABEL", label, 1) }

// TestWhatIsForOneProxyIsFollowed changes the properties of one proxy: its streams are
// those to which the transition goes, and what they answer is known of it.
func TestWhatIsForOneProxyIsFollowed(t *testing.T) {
	h := start(t, services(2)+"---"+podWith("wide"))
	other := h.connect("client-1.shop", "s0")
	one, two := h.connect("client-0.shop"), h.connect("client-0.shop", "s0")
	tr := h.apply(podWith("narrow"))
	if tr.Push.Scope.Type != state.PushNone || len(tr.Push.Proxies) != 1 {
		t.Fatalf("the push is %+v, want one for a single proxy", tr.Push)
	}
	one.ack(one.expect("-" + cluster("s0")))
	two.nack(two.expect("-"+cluster("s0")), "no")
	two.ack(two.expect("-" + cluster("s0"))) // its endpoints
	d := h.delivered(tr)
	if d.Affected != 2 || d.Acked != 1 || d.Rejected != 1 || d.Sent != 0 || d.Rejections[0].Message != "no" {
		t.Errorf("delivery is %+v", d)
	}
	other.nothing()
	if n := gathered(t, h.server)["pilot_push_triggers type=proxy"]; n != 1 {
		t.Errorf("%v pushes are counted for a proxy, want 1", n)
	}
}

// TestWhatIsForOneProxyMayFindItGone: one that left is not waited for.
func TestWhatIsForOneProxyMayFindItGone(t *testing.T) {
	h := start(t, services(2)+"---"+podWith("wide"))
	c := h.connect("client-0.shop")
	tr := h.apply(podWith("narrow"))
	c.expect("-" + cluster("s0")) // and no answer
	c.cancel()
	if d := h.delivered(tr); d.Affected != 1 || d.Left != 1 || d.Sent != 0 {
		t.Errorf("delivery is %+v", d)
	}
}

// TestInboundClustersByName: a client that names one is told when it comes and goes.
func TestInboundClustersByName(t *testing.T) {
	h := start(t, services(1)+"---"+podWith("wide"))
	c := h.delta("client-0.shop", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeCluster, ResourceNamesSubscribe: []string{"inbound|8080||"}})
	c.ack(c.expect("-inbound|8080||"))
	h.put(strings.Replace(slice("s0", "10.9.0.1"), "- {", "- {targetRef: {kind: Pod, name: client-0, namespace: shop}, ", 1))
	c.ack(c.expect("+inbound|8080||"))
	h.put(slice("s0"))
	c.ack(c.expect("-inbound|8080||"))
}

// TestServersOutsideTheirScope: endpoints of a service that the proxy behind them may
// not see are pushed to that proxy as well, and to no audience.
func TestServersOutsideTheirScope(t *testing.T) {
	h := start(t, services(2)+"---"+podWith("narrow"))
	c := h.connect("client-0.shop")
	tr := h.apply(strings.Replace(slice("s0", "10.9.0.1"), "- {", "- {targetRef: {kind: Pod, name: client-0, namespace: shop}, ", 1))
	if tr.Push.Scope.Type != state.PushIncremental || len(tr.Push.Proxies) != 1 {
		t.Fatalf("the push is %+v, want an incremental one that names the proxy", tr.Push)
	}
	c.ack(c.expect("+inbound|8080||"))
	if d := h.delivered(tr); d.Affected != 1 || d.Acked != 1 {
		t.Errorf("delivery is %+v", d)
	}
}
