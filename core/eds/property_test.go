package eds_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// anyCandidate draws candidates that are odd as often as they are usual.
func anyCandidate() *rapid.Generator[*model.Candidate] {
	return rapid.Custom(func(t *rapid.T) *model.Candidate {
		if rapid.IntRange(0, 9).Draw(t, "rejected") == 0 {
			return &model.Candidate{Reason: rapid.SampledFrom(model.Reasons()).Draw(t, "reason")}
		}
		c := pod(rapid.SampledFrom([]string{"10.0.0.1", "10.0.0.2", "fd00::1", "", "unix:///x", "name.example.com", "no\xffutf8"}).Draw(t, "address"),
			in(rapid.SampledFrom([]string{"", "r1", "r1/z1", "r\xff/z", "r1/z1/s1", "r1/z2", "r2//s", "//"}).Draw(t, "locality")),
			onNetwork(model.NetworkID(rapid.SampledFrom([]string{"", "n1", "n2", "n3"}).Draw(t, "network"))),
			inCluster(model.ClusterID(rapid.SampledFrom([]string{"Kubernetes", "remote", ""}).Draw(t, "cluster"))),
			tlsMode(rapid.SampledFrom([]string{"", "istio", "disabled", "x"}).Draw(t, "tls")),
			health(model.HealthStatus(rapid.IntRange(-1, 6).Draw(t, "health"))),
			labelled("version", rapid.SampledFrom([]string{"v1", "v2"}).Draw(t, "version")),
			func(e *model.Endpoint) {
				e.Port = rapid.SampledFrom([]uint32{0, 80, 8080, 1<<32 - 1}).Draw(t, "port")
				e.PortName = rapid.SampledFrom([]string{"http", "", "tcp"}).Draw(t, "name")
				e.LegacyPort = rapid.SampledFrom([]uint32{0, 80, 81}).Draw(t, "legacy")
				e.Weight = rapid.SampledFrom([]uint32{0, 1, 7, 1<<32 - 1}).Draw(t, "weight")
				e.Workload.Node = rapid.SampledFrom([]string{"", "n"}).Draw(t, "node")
				if rapid.IntRange(0, 4).Draw(t, "families") == 0 {
					e.Addresses = append(e.Addresses, "fd00::2", "10.0.0.9")
				}
				e.Workload.Draining = rapid.Bool().Draw(t, "draining")
			})
		if rapid.IntRange(0, 19).Draw(t, "broken") == 0 {
			c.Endpoint.Addresses, c.Endpoint.Workload = nil, nil
		}
		return c
	})
}

func anyView() *rapid.Generator[eds.View] {
	return rapid.Custom(func(t *rapid.T) eds.View {
		flag := func(name string) bool { return rapid.Bool().Draw(t, name) }
		v := view(func(v *eds.View) {
			v.Inline, v.NodeLocal, v.ClusterLocal = flag("inline"), flag("node"), flag("cluster")
			v.SendUnhealthy, v.PersistentSession, v.MTLSOnly, v.HBONE = flag("unhealthy"), flag("session"), flag("mtls"), flag("hbone")
			v.TLS = eds.TLS(rapid.IntRange(0, 3).Draw(t, "tls"))
			v.Node, v.ProxyCluster, v.Network = "n", home, model.NetworkID(rapid.SampledFrom([]string{"", "n1"}).Draw(t, "network"))
		})
		if flag("gateways") {
			gateways(gateway("n2", "203.0.113.1"), gateway("n2", "203.0.113.2"), gateway("n3", "gw.example.com"))(&v)
		}
		if flag("subset") {
			v.Subset = eds.NewPairs(map[string]string{"version": "v1"})
		}
		if flag("view") {
			v.NetworkView = v.NetworkView.Append("n1", "")
		}
		if flag("peers") {
			v.PeerAuth = eds.NewPeerAuth([]eds.PeerRule{{Selector: model.Labels{"version": "v2"}, Disable: true}})
		}
		switch rapid.IntRange(0, 3).Draw(t, "locality") {
		case 1:
			v.Locality.Distribute = eds.NewPairs(map[string]string{"r1/*": "60", "r1/z2": "x", "*": "40"})
		case 2:
			v.Locality = eds.Locality{Failover: true, Proxy: model.ParseLocality("r1/z1"), To: "r2", HasTo: flag("to")}
		case 3:
			v.Locality = eds.Locality{Priority: eds.Pairs("").Append("version", "v1"), Failover: flag("and")}
		}
		return v
	})
}

// conserved tells that each candidate is sent once or has a reason.
func conserved(t rapid.TB, svc *state.ServiceState, a *eds.Assignment) {
	t.Helper()
	if len(a.Reasons) != svc.CandidateCount() {
		t.Fatalf("%d reasons for %d candidates", len(a.Reasons), svc.CandidateCount())
	}
	times := make([]int, len(a.Reasons))
	for _, l := range a.Localities {
		for _, e := range l.Endpoints {
			if e.Candidate >= 0 {
				times[e.Candidate]++
			}
		}
	}
	for i, r := range a.Reasons {
		if (r == model.ReasonNone) != (times[i] == 1) || times[i] > 1 {
			t.Fatalf("candidate %d is sent %d times with reason %v", i, times[i], r)
		}
	}
}

// sameBytes tells that the bytes are those of the message.
func sameBytes(t rapid.TB, a *eds.Assignment) {
	t.Helper()
	var back endpointv3.ClusterLoadAssignment
	if err := proto.Unmarshal(a.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(&back, a.Message()) {
		t.Fatalf("serialised\n%v\nas a message\n%v", &back, a.Message())
	}
}

// Every candidate is sent or has exactly one reason, whatever it looks like, and
// nothing depends on the order of candidates.
func TestConservationAndDeterminism(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(anyCandidate(), 0, 12).Draw(t, "candidates")
		v := anyView().Draw(t, "view")
		first := eds.Build(service(list...), v)
		conserved(t, service(list...), first)
		sameBytes(t, first)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		for range 20 {
			random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			svc := service(list...)
			a := eds.Build(svc, v)
			conserved(t, svc, a)
			if !bytes.Equal(first.Bytes(), a.Bytes()) {
				t.Fatalf("the order of candidates changes what is sent:\n%s\n%s", sent(first), sent(a))
			}
		}
	})
}

func FuzzBuild(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		svc := service(rapid.SliceOfN(anyCandidate(), 0, 12).Draw(t, "candidates")...)
		a := eds.Build(svc, anyView().Draw(t, "view"))
		conserved(t, svc, a)
		sameBytes(t, a)
	}))
}

// Each reason that a view can give is given by some candidate and view. MCS
// discoverability is off. Gateways of another IP family are sent.
func TestEveryViewReasonIsProduced(t *testing.T) {
	far := pod("10.0.0.1", onNetwork("n2"))
	two := []func(*eds.View){gateways(gateway("n2", "203.0.113.1")), proxyIn("n1")}
	builds := []*eds.Assignment{
		eds.Build(service(pod("10.0.0.1", func(e *model.Endpoint) { e.PortName = "x" }), pod("a.example.com")), view()),
		eds.Build(service(pod("10.0.0.1")), view(func(v *eds.View) { v.Subset = eds.NewPairs(map[string]string{"a": "b"}) })),
		eds.Build(service(pod("10.0.0.1")), view(func(v *eds.View) { v.NodeLocal, v.Node = true, "n" })),
		eds.Build(service(far), view(func(v *eds.View) { v.NetworkView = v.NetworkView.Append("n1", "") })),
		eds.Build(service(pod("10.0.0.1")), view(func(v *eds.View) { v.ClusterLocal, v.ProxyCluster = true, "remote" })),
		eds.Build(service(pod("10.0.0.1", health(model.UnHealthy)), pod("10.0.0.2", health(model.Terminating)), pod("10.0.0.3", health(model.Draining))), view()),
		eds.Build(service(far), view(two...)),
		eds.Build(service(pod("10.0.0.1", onNetwork("n2"), tlsMode(""))), view(two...)),
		eds.Build(service(pod("10.0.0.1", tlsMode(""))), view(func(v *eds.View) { v.MTLSOnly = true })),
		eds.Build(world(), locality(eds.Locality{Distribute: eds.NewPairs(map[string]string{"r1": "100"})})),
	}
	seen := map[model.Reason]bool{model.ReasonNotDiscoverable: true}
	for _, a := range builds {
		for _, r := range a.Reasons {
			seen[r] = true
		}
	}
	for _, r := range model.Reasons() {
		if r.Stage() == model.StageView && !seen[r] {
			t.Errorf("%v is never given", r)
		}
	}
}
