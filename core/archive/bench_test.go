package archive

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// mesh50k has 2,000 services with 25 endpoints each.
func mesh50k() *Content {
	b := state.NewBuilder(state.Empty())
	for i := range 2000 {
		name := fmt.Sprintf("svc-%d", i)
		key := model.ServiceKey{Hostname: model.Hostname(name + ".shop.svc.cluster.local"), Namespace: "shop"}
		source := model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindEndpointSlice, Namespace: "shop", Name: name + "-x7k2p"}
		var cs []*model.Candidate
		for j := range 25 {
			pod := model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindPod, Namespace: "shop", Name: fmt.Sprintf("%s-%d", name, j)}
			w := &model.Workload{Object: pod, Labels: model.Labels{"app": name, "version": "v1"}, Namespace: "shop", Name: name, Node: "node-1"}
			address := fmt.Sprintf("10.%d.%d.%d", i/256, i%256, j)
			cs = append(cs, &model.Candidate{
				Source: &source, Target: &pod, Address: address, PortName: "http", Port: 8080,
				Endpoint: &model.Endpoint{Workload: w, Addresses: []string{address}, PortName: "http", Port: 8080, Health: model.Healthy},
			})
		}
		chunk := &state.Chunk{Source: source, ResourceVersion: "1", Candidates: cs}
		shard := &state.Shard{Key: model.ShardKey{Provider: model.ProviderKubernetes, Cluster: "Kubernetes"}, Chunks: []*state.Chunk{chunk}, Candidates: cs, Endpoints: len(cs)}
		b.SetService(key, &state.ServiceState{Key: key, Definitions: []*model.Service{{Key: key, Name: name}}, Shards: []*state.Shard{shard}})
	}
	return &Content{Snapshot: b.Snapshot(epoch)}
}

func BenchmarkWrite50kEndpoints(b *testing.B) {
	c := mesh50k()
	b.ReportAllocs()
	for b.Loop() {
		if err := Write(io.Discard, c); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead50kEndpoints(b *testing.B) {
	var buf bytes.Buffer
	if err := Write(&buf, mesh50k()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(bytes.NewReader(buf.Bytes()), DefaultLimits()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(buf.Len()), "archive-bytes")
}
