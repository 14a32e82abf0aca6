package eds_test

import (
	"testing"

	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

func world() *state.ServiceState {
	return service(
		pod("10.0.0.4", in("r3/z4")), pod("10.0.0.3", in("r2/z3")), pod("10.0.0.2", in("r1/z2")), pod("10.0.0.1", in("r1/z1/s1")), pod("10.0.0.5", in("r1/z1/s2")),
	)
}

func locality(l eds.Locality) eds.View { return view(func(v *eds.View) { v.Locality = l }) }

func TestLocalitiesAreSortedByName(t *testing.T) {
	expectSent(t, eds.Build(world(), view()),
		"r1/z1/s1 p0 w1 [10.0.0.1*1]; r1/z1/s2 p0 w1 [10.0.0.5*1]; r1/z2 p0 w1 [10.0.0.2*1]; r2/z3 p0 w1 [10.0.0.3*1]; r3/z4 p0 w1 [10.0.0.4*1]")
}

// Priorities are by closeness and without gaps (fact 31).
func TestFailover(t *testing.T) {
	at := func(l string) eds.Locality { return eds.Locality{Failover: true, Proxy: model.ParseLocality(l)} }
	to := func(l eds.Locality, region string) eds.Locality {
		l.To, l.HasTo = region, true
		return l
	}
	tests := []struct {
		name string
		set  eds.Locality
		want string
	}{
		{"all distances", at("r1/z1/s1"), "r1/z1/s1 p0 w1 [10.0.0.1*1]; r1/z1/s2 p1 w1 [10.0.0.5*1]; r1/z2 p2 w1 [10.0.0.2*1]; r2/z3 p3 w1 [10.0.0.3*1]; r3/z4 p3 w1 [10.0.0.4*1]"},
		{"region to region", to(at("r1/z1/s1"), "r3"), "r1/z1/s1 p0 w1 [10.0.0.1*1]; r1/z1/s2 p1 w1 [10.0.0.5*1]; r1/z2 p2 w1 [10.0.0.2*1]; r2/z3 p4 w1 [10.0.0.3*1]; r3/z4 p3 w1 [10.0.0.4*1]"},
		{"nothing near", at("r9/z9"), "r1/z1/s1 p0 w1 [10.0.0.1*1]; r1/z1/s2 p0 w1 [10.0.0.5*1]; r1/z2 p0 w1 [10.0.0.2*1]; r2/z3 p0 w1 [10.0.0.3*1]; r3/z4 p0 w1 [10.0.0.4*1]"},
		{"no locality (fact 32)", at(""), "r1/z1/s1 p0 w1 [10.0.0.1*1]; r1/z1/s2 p0 w1 [10.0.0.5*1]; r1/z2 p0 w1 [10.0.0.2*1]; r2/z3 p0 w1 [10.0.0.3*1]; r3/z4 p0 w1 [10.0.0.4*1]"},
		{"gap", at("r2/z9"), "r1/z1/s1 p1 w1 [10.0.0.1*1]; r1/z1/s2 p1 w1 [10.0.0.5*1]; r1/z2 p1 w1 [10.0.0.2*1]; r2/z3 p0 w1 [10.0.0.3*1]; r3/z4 p1 w1 [10.0.0.4*1]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { expectSent(t, eds.Build(world(), locality(tt.set)), tt.want) })
	}
}

// A locality that distribute does not name stays, empty and with its own weight
// (fact 33).
func TestDistribute(t *testing.T) {
	set := func(m map[string]string) eds.View { return locality(eds.Locality{Distribute: eds.NewPairs(m)}) }
	a := eds.Build(world(), set(map[string]string{"r1/z1/*": "70", "r1/z2": "20", "r2/*": "10"}))
	expectSent(t, a, "r1/z1/s1 p0 w35 [10.0.0.1*1]; r1/z1/s2 p0 w35 [10.0.0.5*1]; r1/z2 p0 w20 [10.0.0.2*1]; r2/z3 p0 w10 [10.0.0.3*1]; r3/z4 p0 w1 []")
	expectReasons(t, a, model.ReasonLocalityNotDistributed, 0, 0, 0, 0)

	a = eds.Build(world(), set(map[string]string{"r1/z1/s1": "60", "*": "40"}))
	expectSent(t, a, "r1/z1/s1 p0 w60 [10.0.0.1*1]; r1/z1/s2 p0 w10 [10.0.0.5*1]; r1/z2 p0 w10 [10.0.0.2*1]; r2/z3 p0 w10 [10.0.0.3*1]; r3/z4 p0 w10 [10.0.0.4*1]")

	a = eds.Build(service(pod("10.0.0.1", in("r1/z1")), pod("10.0.0.2", in("r1/z2")), pod("10.0.0.3", in("r1/z2"))), set(map[string]string{"r1": "10"}))
	expectSent(t, a, "r1/z1 p0 w4 [10.0.0.1*1]; r1/z2 p0 w7 [10.0.0.2*1 10.0.0.3*1]")
}

func TestLocalityMatches(t *testing.T) {
	tests := []struct {
		locality, pattern string
		want              bool
	}{
		{"r1/z1/s1", "r1/z1/s1", true},
		{"r1/z1/s1", "r1/z1", true},
		{"r1/z1/s1", "r1/z1/*", true},
		{"r1/z1/s1", "r1", true},
		{"r1/z1/s1", "*", true},
		{"r1/z1/s1", "r1/z2", false},
		{"r1/z1/s1", "r2", false},
		{"r1/z1/s1", "r1/z1/s2", false},
		{"", "r1", false},
		{"", "*", true},
	}
	for _, tt := range tests {
		if got := eds.LocalityMatches(model.ParseLocality(tt.locality), tt.pattern); got != tt.want {
			t.Errorf("%q in %q: %v", tt.locality, tt.pattern, got)
		}
	}
}

// Endpoints are as far away as the first label is in which they differ from the
// proxy, and a locality is split by that (facts 21 and 32).
func TestFailoverPriority(t *testing.T) {
	svc := service(
		pod("10.0.0.1", in("r1/z1"), labelled("region", "r1", "node", "n1")),
		pod("10.0.0.2", in("r1/z1"), labelled("region", "r1", "node", "n2")),
		pod("10.0.0.3", in("r1/z2"), labelled("region", "r1", "node", "n2")),
		pod("10.0.0.4", in("r2/z3"), labelled("region", "r2", "node", "n1")),
	)
	p := eds.Pairs("").Append("region", "r1").Append("node", "n1")
	expectSent(t, eds.Build(svc, locality(eds.Locality{Priority: p})),
		"r1/z1 p0 w1 [10.0.0.1*1]; r1/z1 p1 w1 [10.0.0.2*1]; r1/z2 p1 w1 [10.0.0.3*1]; r2/z3 p2 w1 [10.0.0.4*1]")

	expectSent(t, eds.Build(svc, locality(eds.Locality{Priority: eds.Pairs("").Append("region", "r9").Append("node", "n1")})),
		"r1/z1 p0 w2 [10.0.0.1*1 10.0.0.2*1]; r1/z2 p0 w1 [10.0.0.3*1]; r2/z3 p0 w1 [10.0.0.4*1]")

	// The label goes before the distance.
	label := eds.Locality{Priority: eds.Pairs("").Append("node", "n1"), Failover: true, Proxy: model.ParseLocality("r1/z2")}
	expectSent(t, eds.Build(svc, locality(label)),
		"r1/z1 p0 w1 [10.0.0.1*1]; r1/z1 p3 w1 [10.0.0.2*1]; r1/z2 p2 w1 [10.0.0.3*1]; r2/z3 p1 w1 [10.0.0.4*1]")

	both := eds.Locality{Priority: eds.Pairs("").Append("region", "r1"), Failover: true, Proxy: model.ParseLocality("r1/z2")}
	expectSent(t, eds.Build(svc, locality(both)),
		"r1/z1 p1 w2 [10.0.0.1*1 10.0.0.2*1]; r1/z2 p0 w1 [10.0.0.3*1]; r2/z3 p2 w1 [10.0.0.4*1]")
}

// A gateway has the labels of its network and cluster only.
func TestFailoverPriorityOfGateways(t *testing.T) {
	svc := service(pod("10.0.0.1", onNetwork("n1"), labelled(model.LabelNetwork, "n1")), pod("10.0.0.2", onNetwork("n2")))
	v := view(gateways(gateway("n2", "203.0.113.1")), proxyIn("n1"), func(v *eds.View) {
		v.Locality.Priority = eds.Pairs("").Append(model.LabelNetwork, "n1")
	})
	expectSent(t, eds.Build(svc, v), " p0 w1 [10.0.0.1*1];  p1 w1 [203.0.113.1*1]")
}
