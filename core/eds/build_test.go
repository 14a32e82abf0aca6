package eds_test

import (
	"testing"

	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
)

// What is sent of each health, by what the service says (fact 3).
func TestHealth(t *testing.T) {
	draining := func(e *model.Endpoint) { e.Workload.Draining = true }
	all := func() []*model.Candidate {
		return []*model.Candidate{
			pod("10.0.0.1", health(model.Healthy)),
			pod("10.0.0.2", health(model.UnHealthy)),
			pod("10.0.0.3", health(model.Draining)),
			pod("10.0.0.4", health(model.Terminating)),
			pod("10.0.0.5", health(model.HealthUnset)),
			pod("10.0.0.6", health(model.Healthy), draining),
		}
	}
	tests := []struct {
		name string
		view func(*eds.View)
		want string
		why  []model.Reason
	}{
		{
			"plain", func(*eds.View) {}, " p0 w2 [10.0.0.1*1 10.0.0.5*1]",
			[]model.Reason{0, model.ReasonUnhealthy, model.ReasonDraining, model.ReasonTerminating, 0, model.ReasonDraining},
		},
		{
			"traffic distribution", func(v *eds.View) { v.SendUnhealthy = true },
			" p0 w3 [10.0.0.1*1 10.0.0.2*1 10.0.0.5*1]",
			[]model.Reason{0, 0, model.ReasonDraining, model.ReasonTerminating, 0, model.ReasonDraining},
		},
		{
			"persistent session", func(v *eds.View) { v.PersistentSession = true },
			" p0 w4 [10.0.0.1*1 10.0.0.3*1 10.0.0.5*1 10.0.0.6*1]",
			[]model.Reason{0, model.ReasonUnhealthy, 0, model.ReasonTerminating, 0, 0},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := eds.Build(service(all()...), view(tt.view))
			expectSent(t, a, tt.want)
			expectReasons(t, a, tt.why...)
		})
	}
}

func TestDrainingLabelIsSentAsDraining(t *testing.T) {
	c := pod("10.0.0.1", func(e *model.Endpoint) { e.Workload.Draining = true })
	a := eds.Build(service(c), view(func(v *eds.View) { v.PersistentSession = true }))
	if got := a.Localities[0].Endpoints[0].Health; got != model.Draining {
		t.Errorf("health %v, want draining", got)
	}
}

// EDS matches by the port's name, inline clusters by the service port's number
// where the endpoint has one (fact 25).
func TestPorts(t *testing.T) {
	legacy := func(name string, port uint32) func(*model.Endpoint) {
		return func(e *model.Endpoint) { e.PortName, e.LegacyPort = name, port }
	}
	list := []*model.Candidate{
		pod("10.0.0.1"),
		pod("10.0.0.2", legacy("other", 80)),
		pod("10.0.0.3", legacy("http", 81)),
		pod("10.0.0.4", legacy("other", 0)),
	}
	a := eds.Build(service(list...), view())
	expectSent(t, a, " p0 w2 [10.0.0.1*1 10.0.0.3*1]")
	expectReasons(t, a, 0, model.ReasonPortNameMismatch, 0, model.ReasonPortNameMismatch)

	a = eds.Build(service(list...), view(func(v *eds.View) { v.Inline = true }))
	expectSent(t, a, " p0 w2 [10.0.0.1*1 10.0.0.2*1]")
	expectReasons(t, a, 0, 0, model.ReasonPortNameMismatch, model.ReasonPortNameMismatch)
}

func TestNamesAreForInlineClustersOnly(t *testing.T) {
	svc := service(pod("api.example.com"), pod("10.0.0.1"))
	a := eds.Build(svc, view())
	expectReasons(t, a, model.ReasonAddressNotIP, 0)
	a = eds.Build(svc, view(func(v *eds.View) { v.Inline = true }))
	expectReasons(t, a, 0, 0)
}

// The labels that Istio adds count as any other (fact 11).
func TestSubset(t *testing.T) {
	svc := service(
		pod("10.0.0.1", labelled("version", "v1", model.LabelZone, "z1")),
		pod("10.0.0.2", labelled("version", "v1", model.LabelZone, "z2")),
		pod("10.0.0.3", labelled(model.LabelNetwork, "")),
	)
	subset := func(m map[string]string) func(*eds.View) {
		return func(v *eds.View) { v.Subset = eds.NewPairs(m) }
	}
	expectReasons(t, eds.Build(svc, view(subset(map[string]string{"version": "v1", model.LabelZone: "z1"}))),
		0, model.ReasonSubsetLabels, model.ReasonSubsetLabels)
	expectReasons(t, eds.Build(svc, view(subset(map[string]string{model.LabelNetwork: ""}))),
		model.ReasonSubsetLabels, model.ReasonSubsetLabels, 0)
	expectReasons(t, eds.Build(svc, view(subset(nil))), 0, 0, 0)
	a := eds.Build(svc, view(subset(map[string]string{"version": "v9"})))
	if a.Sent() != 0 || len(a.Localities) != 0 {
		t.Errorf("a subset of nobody has %s", sent(a))
	}
}

// internalTrafficPolicy Local: the node must be the proxy's, and the cluster
// too, as nodes of two clusters may have one name (fact 20).
func TestNodeLocal(t *testing.T) {
	on := func(node string) func(*model.Endpoint) { return func(e *model.Endpoint) { e.Workload.Node = node } }
	svc := service(pod("10.0.0.1", on("n1")), pod("10.0.0.2", on("n2")), pod("10.0.0.3", on("n1"), inCluster("remote")), pod("10.0.0.4"))
	a := eds.Build(svc, view(func(v *eds.View) { v.NodeLocal, v.Node, v.ProxyCluster = true, "n1", home }))
	expectSent(t, a, " p0 w1 [10.0.0.1*1]")
	expectReasons(t, a, 0, model.ReasonNodeLocal, model.ReasonNodeLocal, model.ReasonNodeLocal)
}

// Cluster-local services are reached in the proxy's cluster only (fact 38).
func TestClusterLocal(t *testing.T) {
	svc := service(pod("10.0.0.1"), pod("10.1.0.1", inCluster("remote")))
	a := eds.Build(svc, view(func(v *eds.View) { v.ClusterLocal, v.ProxyCluster = true, "remote" }))
	expectReasons(t, a, model.ReasonClusterLocal, 0)
}

// A proxy sees the networks it asked for, and whatever has none.
func TestNetworkView(t *testing.T) {
	svc := service(pod("10.0.0.1", onNetwork("n1")), pod("10.0.0.2", onNetwork("n2")), pod("10.0.0.3"))
	a := eds.Build(svc, view(func(v *eds.View) { v.NetworkView = v.NetworkView.Append("n1", "") }))
	expectReasons(t, a, 0, model.ReasonNetworkView, 0)
}

// IPv6 endpoints are sent to everybody (fact 22).
func TestAddressFamiliesAreNotFiltered(t *testing.T) {
	a := eds.Build(service(pod("10.0.0.1"), pod("fd00::1")), view())
	expectSent(t, a, " p0 w2 [10.0.0.1*1 fd00::1*1]")
}

// What an entry with two addresses offers twice is sent twice (fact 24).
func TestRepeatedEndpointsStay(t *testing.T) {
	a := eds.Build(service(pod("10.0.0.1"), pod("10.0.0.1")), view())
	expectSent(t, a, " p0 w2 [10.0.0.1*1 10.0.0.1*1]")
}

func TestAdmissionReasonsStay(t *testing.T) {
	waiting := &model.Candidate{Address: "10.0.0.9", Reason: model.ReasonPodNotSeen}
	broken := &model.Candidate{Address: "10.0.0.8"}
	empty := pod("", func(e *model.Endpoint) { e.Addresses = nil })
	a := eds.Build(service(waiting, pod("10.0.0.1"), broken, empty), view())
	expectReasons(t, a, model.ReasonPodNotSeen, 0, model.ReasonNoAddress, model.ReasonNoAddress)
}

func TestWeights(t *testing.T) {
	weight := func(w uint32) func(*model.Endpoint) { return func(e *model.Endpoint) { e.Weight = w } }
	a := eds.Build(service(pod("10.0.0.1", weight(5)), pod("10.0.0.2"), pod("10.0.0.3", weight(1<<32-1))), view())
	expectSent(t, a, " p0 w4294967295 [10.0.0.1*5 10.0.0.2*1 10.0.0.3*4294967295]")
}

func TestNothingKnown(t *testing.T) {
	for name, a := range map[string]*eds.Assignment{
		"no service": eds.Build(nil, view()), "no endpoints": eds.Build(service(), view()),
	} {
		if a.Cluster != view().Cluster || len(a.Localities) != 0 || a.Message().GetClusterName() != view().Cluster {
			t.Errorf("%s: %+v", name, a)
		}
	}
}
