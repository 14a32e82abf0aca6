package ads

import (
	"slices"
	"strings"
	"testing"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
)

// outbound leaves the clusters that every proxy has out.
func outbound(m *discoveryv3.DeltaDiscoveryResponse) string {
	var out []string
	for one := range strings.FieldsSeq(summary(m)) {
		if strings.Contains(one, "outbound|") {
			out = append(out, one)
		}
	}
	return strings.Join(out, " ")
}

// TestWildcardAndNames goes through what a client of the incremental protocol can
// say of clusters: all, some, both, and neither.
func TestWildcardAndNames(t *testing.T) {
	h := start(t, services(2))
	s0, s1 := cluster("s0"), cluster("s1")
	c := h.delta("client-0.shop", &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeCluster, ResourceNamesSubscribe: []string{"*", s0}})
	for _, step := range []struct {
		what                   string
		subscribe, unsubscribe []string
		change                 string
		want                   string
	}{
		{"all and one, which is sent once", nil, nil, "", "+" + s0 + " +" + s1},
		{"a name is answered again", []string{s1, "nobody"}, nil, "", "+" + s1},
		{"a name is given up while all are wanted", nil, []string{s1}, "", "+" + s1},
		{"a change comes once", nil, nil, rule, "+" + s0},
		{"all are given up", nil, []string{"*"}, "", ""},
		{"only names count", nil, nil, services(3), ""},
		{"all are wanted again", []string{"*"}, nil, "", "+" + s0 + " +" + s1 + " +" + cluster("s2")},
		{"neither", nil, []string{"*"}, "", ""},
		{"names last", nil, []string{s0, s1, "nobody"}, "", ""},
		{"nothing is wanted", nil, nil, strings.ReplaceAll(rule, "7", "8"), ""},
	} {
		if len(step.subscribe)+len(step.unsubscribe) > 0 {
			c.send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeCluster, ResourceNamesSubscribe: step.subscribe, ResourceNamesUnsubscribe: step.unsubscribe})
		}
		if step.change != "" {
			h.put(step.change)
		}
		if step.want == "" {
			c.nothing()
			continue
		}
		m := c.next()
		if have := outbound(m); have != step.want {
			t.Fatalf("%s: message has %s, want %s", step.what, have, step.want)
		}
		c.ack(m)
	}
}

// TestWildcardAndNamesOfTheWorld does so in the other protocol, where each message
// of clusters has all that is asked for.
func TestWildcardAndNamesOfTheWorld(t *testing.T) {
	h := start(t, services(2))
	s0, s1 := cluster("s0"), cluster("s1")
	c := h.sotw("client-0.shop")
	m := c.expect(s0, s1)
	c.answer(m, "*", s0)
	c.answer(c.expect(s0, s1), "*", s0) // the name is answered, and nothing is left out
	h.put(rule)
	c.answer(c.expect(s0, s1), s1) // no longer all
	m = c.expect(s1)
	if n := len(m.GetResources()); n != 1 {
		t.Errorf("%d clusters came, want the one that is asked for", n)
	}
	c.answer(m, s1)
	h.put("$op: delete\napiVersion: v1\nkind: Service\nmetadata: {name: s1, namespace: shop}\n")
	m = c.expect() // the client learns that it went
	c.answer(m, s1)
	c.answer(m) // nothing at all, after there were names
	c.nothing()
	c.answer(m, "*")
	if have := names(t, c.expect(s0)); !slices.Equal(have, []string{s0}) {
		t.Errorf("all are %v", have)
	}
}
