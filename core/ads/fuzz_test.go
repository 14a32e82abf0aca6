package ads

import (
	"errors"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/google/go-cmp/cmp"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
)

// FuzzDelta holds the reader of incremental requests to protobuf's own.
func FuzzDelta(f *testing.F) {
	seed, err := proto.Marshal(&discoveryv3.DeltaDiscoveryRequest{
		Node: nodeOf("a.b"), TypeUrl: typeEndpoint, ResourceNamesSubscribe: []string{"x", "y"}, ResourceNamesUnsubscribe: []string{"z"},
		InitialResourceVersions: map[string]string{"x": "1f"}, ResponseNonce: "7", ErrorDetail: &rpcstatus.Status{Message: "no"},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte{0x0a, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeDelta(b)
		m := &discoveryv3.DeltaDiscoveryRequest{}
		if proto.Unmarshal(b, m) != nil {
			return // what protobuf refuses may be refused or not
		}
		if errors.Is(err, errLimit) {
			return // too long
		}
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		if d := cmp.Diff(m.GetResourceNamesSubscribe(), r.subscribe); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(m.GetResourceNamesUnsubscribe(), r.unsubscribe); d != "" {
			t.Error(d)
		}
		if m.GetTypeUrl() != r.typeURL || m.GetResponseNonce() != r.nonce || (m.GetErrorDetail() == nil) != (r.rejected == nil) ||
			len(m.GetInitialResourceVersions()) != len(r.initial) || (m.GetNode() == nil) != (r.node == nil) {
			t.Errorf("have %+v of %v", r, m)
		}
	})
}

// FuzzSotW does the same for state-of-the-world requests.
func FuzzSotW(f *testing.F) {
	seed, err := proto.Marshal(&discoveryv3.DiscoveryRequest{
		VersionInfo: "3", Node: nodeOf("a.b"), TypeUrl: typeEndpoint, ResourceNames: []string{"x", "", "y"}, ResponseNonce: "7",
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeSotW(b, func(string) (uint64, bool) { return 0, false })
		m := &discoveryv3.DiscoveryRequest{}
		if proto.Unmarshal(b, m) != nil {
			return // what protobuf refuses may be refused or not
		}
		if errors.Is(err, errLimit) {
			return // too long
		}
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		if len(m.GetResourceNames()) != len(r.names) || m.GetTypeUrl() != r.typeURL || m.GetResponseNonce() != r.nonce {
			t.Errorf("have %+v of %v", r, m)
		}
		again, err := decodeSotW(b, func(string) (uint64, bool) { return r.hash, true })
		if err != nil || again.names != nil {
			t.Errorf("names which are known already are read again: %v, %v", again.names, err)
		}
	})
}

// FuzzNode reads what clients say of themselves.
func FuzzNode(f *testing.F) {
	for _, id := range []string{"sidecar~10.0.0.1~a.b~b.svc.cluster.local", "router~~a.b.c~", "~~~", "sidecar~x~.~y"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		n, err := parseNode(&corev3.Node{Id: id})
		if err != nil {
			return // refused
		}
		p := n.pinned.Proxy
		if p.ID == "" || p.Namespace == "" || n.pinned.Pod.Name == "" || p.ID != n.pinned.Pod.Name+"."+p.Namespace {
			t.Errorf("%q became %+v", id, p)
		}
	})
}

// FuzzResponse holds the bytes of a response to protobuf's reader.
func FuzzResponse(f *testing.F) {
	f.Add("name", "9", "outbound|80||x")
	f.Fuzz(func(t *testing.T, name, nonce, other string) {
		want := &endpointv3.ClusterLoadAssignment{ClusterName: name, Policy: &endpointv3.ClusterLoadAssignment_Policy{}}
		b, err := proto.Marshal(want)
		if err != nil {
			return // not UTF-8
		}
		one := newResource(typeEndpoint, name, b)
		for _, delta := range []bool{true, false} {
			r := &response{delta: delta, typeURL: typeEndpoint, version: "3", nonce: nonce, resources: []*resource{one, one}}
			if delta {
				r.removed = []string{other}
			}
			bytes := r.message().Materialize()
			if delta {
				m := &discoveryv3.DeltaDiscoveryResponse{}
				if proto.Unmarshal(bytes, m) != nil {
					return // not UTF-8
				}
				if m.GetNonce() != nonce || len(m.GetRemovedResources()) != 1 || m.GetRemovedResources()[0] != other || m.GetResources()[1].GetName() != name {
					t.Errorf("read back: %v", m)
				}
				same1(t, m.GetResources()[0].GetResource(), want)
				continue
			}
			m := &discoveryv3.DiscoveryResponse{}
			if proto.Unmarshal(bytes, m) != nil {
				return // not UTF-8
			}
			if m.GetNonce() != nonce || m.GetVersionInfo() != "3" || m.GetTypeUrl() != typeEndpoint || len(m.GetResources()) != 2 {
				t.Errorf("read back: %v", m)
			}
			same1(t, m.GetResources()[1], want)
		}
		if parseVersion(one.version.String()) != one.version {
			t.Errorf("version %s is not read back", one.version)
		}
	})
}

// FuzzNames asks for listeners and routes by any name: there are none, or such as
// have that name.
func FuzzNames(f *testing.F) {
	core := coretest.New(f)
	core.Apply(services(1) + "---" + routed)
	snap := core.Snapshot()
	p := &model.Proxy{Type: model.Sidecar, Namespace: "shop"}
	at := place{scope: scope.For(snap, p), snap: snap}
	for _, name := range []string{cluster("s0"), "s0.shop.svc.cluster.local:80", "outbound|80|v1|x", "a:99999", "|||", "*", "[::1]:80", "outbound|80||*.local"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if r := listenerFor(at.scope, name); r != nil {
			l := &listenerv3.Listener{}
			if unpack(t, r, l); r.name != name || l.GetName() != name {
				t.Errorf("%q gives %q", name, l.GetName())
			}
		}
		if r := routesFor(at, p, name); r != nil {
			c := &routev3.RouteConfiguration{}
			if unpack(t, r, c); r.name != name || c.GetName() != name || len(c.GetVirtualHosts()) != 1 {
				t.Errorf("%q gives %v", name, c)
			}
		}
	})
}

// unpack reads the message of a resource.
func unpack(t testing.TB, r *resource, to proto.Message) {
	t.Helper()
	m := &discoveryv3.DiscoveryResponse{}
	if err := proto.Unmarshal((&response{typeURL: "any", resources: []*resource{r}}).message().Materialize(), m); err != nil {
		t.Fatal(err)
	}
	if err := m.GetResources()[0].UnmarshalTo(to); err != nil {
		t.Fatal(err)
	}
}

func same1(t *testing.T, boxed *anypb.Any, want proto.Message) {
	t.Helper()
	have, err := boxed.UnmarshalNew()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, have, protocmp.Transform()); d != "" {
		t.Error(d)
	}
}
