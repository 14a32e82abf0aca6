package ads

import (
	"context"
	"io"
	"testing"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/edsight/edsight/core/coretest"
)

// scripted is a stream of a client that says what is written, and leaves after the
// second message.
type scripted struct {
	ctx   context.Context
	says  [][]byte
	heard [][]byte
	told  chan struct{}
}

func (s *scripted) RecvMsg(m any) error {
	if len(s.says) == 0 {
		<-s.told
		return io.EOF
	}
	*m.(*mem.Buffer) = mem.SliceBuffer(s.says[0])
	s.says = s.says[1:]
	return nil
}

func (s *scripted) SendMsg(m any) error {
	if s.heard = append(s.heard, m.(mem.BufferSlice).Materialize()); len(s.heard) == 2 {
		close(s.told)
	}
	return nil
}

func (s *scripted) Context() context.Context     { return s.ctx }
func (s *scripted) SetHeader(metadata.MD) error  { return nil }
func (s *scripted) SendHeader(metadata.MD) error { return nil }
func (s *scripted) SetTrailer(metadata.MD)       {}

// BenchmarkReconnect has a client come again that has all clusters and endpoints of a
// mesh of 2,000 services.
func BenchmarkReconnect(b *testing.B) {
	h := start(b, "")
	coretest.Mesh{Services: 2000, Namespaces: 20, Endpoints: 1}.Fill(h.store)
	serve := func(requests ...*discoveryv3.DeltaDiscoveryRequest) []*discoveryv3.DeltaDiscoveryResponse {
		s := &scripted{ctx: b.Context(), told: make(chan struct{})}
		// Of a name that does not exist one is told at once.
		end := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeEndpoint, ResourceNamesSubscribe: []string{"outbound|80||gone"}}
		for _, r := range append(requests, end) {
			one, err := proto.Marshal(r)
			if err != nil {
				b.Fatal(err)
			}
			s.says = append(s.says, one)
		}
		if err := h.server.serve(&reader{stream: s, delta: true}, Caller{}); err != nil {
			b.Fatal(err)
		}
		var out []*discoveryv3.DeltaDiscoveryResponse
		for _, one := range s.heard {
			m := &discoveryv3.DeltaDiscoveryResponse{}
			if err := proto.Unmarshal(one, m); err != nil {
				b.Fatal(err)
			}
			out = append(out, m)
		}
		return out
	}
	clusters := &discoveryv3.DeltaDiscoveryRequest{Node: nodeOf("a.b"), TypeUrl: typeCluster, InitialResourceVersions: map[string]string{}}
	endpoints := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: typeEndpoint, InitialResourceVersions: map[string]string{}}
	for len(endpoints.ResourceNamesSubscribe) < 2000 {
		endpoints.ResourceNamesSubscribe = nil
		for _, r := range serve(clusters)[0].GetResources() {
			endpoints.ResourceNamesSubscribe = append(endpoints.ResourceNamesSubscribe, r.GetName())
		}
	}
	for _, m := range serve(clusters, endpoints) {
		to := clusters
		if m.GetTypeUrl() == typeEndpoint {
			to = endpoints
		}
		for _, r := range m.GetResources() {
			to.InitialResourceVersions[r.GetName()] = r.GetVersion()
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, m := range serve(clusters, endpoints) {
			if len(m.GetResources()) > 0 {
				b.Fatalf("%d resources of %s are sent again", len(m.GetResources()), m.GetTypeUrl())
			}
		}
	}
}
