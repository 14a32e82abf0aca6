package registry

import (
	"reflect"
	"slices"

	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// compileService makes the state of one service. With rebuild no chunk of prev is
// reused. It returns prev if nothing differs, and nil if there is nothing.
func (w *World) compileService(key model.ServiceKey, prev *state.ServiceState, rebuild bool, version uint64) *state.ServiceState {
	next := &state.ServiceState{Key: key, Version: version}
	w.kubernetesPart(next, prev, rebuild)
	w.entriesPart(next, prev)
	if len(next.Definitions) == 0 && len(next.Shards) == 0 {
		return nil
	}
	slices.SortFunc(next.Shards, func(a, b *state.Shard) int {
		return compareStrings(a.Key.String(), b.Key.String())
	})
	for i, s := range next.Shards {
		next.Shards[i] = finishShard(s, shardOf(prev, s.Key))
	}
	next.ServiceAccounts = accounts(next)
	if prev != nil && sameService(prev, next) {
		return prev
	}
	return next
}

// kubernetesPart adds the Kubernetes definition, merged over the clusters, and
// the shards of all clusters.
func (w *World) kubernetesPart(next, prev *state.ServiceState, rebuild bool) {
	name, ok := w.kubeName(next.Key)
	set := false
	if !ok {
		if name, set = w.clusterSetName(next.Key); !set {
			return
		}
	}
	own := w.kubeDefinitions(next.Key.Namespace, name)
	defs := own
	if set {
		defs = map[model.ClusterID]*model.Service{}
		service := w.merged(own)
		for _, cluster := range w.clusters() {
			if d := w.imported(next.Key, name, cluster, service); d != nil {
				defs[cluster] = d
			}
		}
	}
	for _, cluster := range w.clusters() {
		shard := &state.Shard{Key: model.ShardKey{Provider: model.ProviderKubernetes, Cluster: cluster}}
		have := chunksOf(shardOf(prev, shard.Key))
		for _, key := range w.slicesByService.get(term{cluster, next.Key.Namespace, name}) {
			shard.Chunks = append(shard.Chunks, w.chunk(key, next.Key.Hostname, defs[cluster], have[key], rebuild))
		}
		shard.Chunks = append(shard.Chunks, w.selectedEntries(cluster, next.Key.Namespace, defs[cluster])...)
		if len(shard.Chunks) > 0 {
			reuseChunks(shard, have)
			next.Shards = append(next.Shards, shard)
		}
	}
	if d := w.merged(defs); d != nil {
		next.Definitions = append(next.Definitions, d)
	}
}

// kubeDefinitions makes the definitions of a Kubernetes Service by cluster.
func (w *World) kubeDefinitions(namespace, name string) map[model.ClusterID]*model.Service {
	out := map[model.ClusterID]*model.Service{}
	for _, cluster := range w.clusters() {
		if s := w.serviceOf(cluster, namespace, name); s != nil {
			key := model.ObjectKey{Cluster: cluster, Kind: model.KindService, Namespace: namespace, Name: name}
			out[cluster] = w.kubeService(key, s)
		}
	}
	return out
}

// merged is the definition for all clusters, nil if none has one.
func (w *World) merged(defs map[model.ClusterID]*model.Service) *model.Service {
	var all []*model.Service
	for _, cluster := range w.clusters() {
		if d := defs[cluster]; d != nil {
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return mergeClusters(all)
}

// chunk makes the chunk of one slice, or takes the one that there was if nothing that it
// was made from was touched.
func (w *World) chunk(key model.ObjectKey, host model.Hostname, def *model.Service, have *state.Chunk, rebuild bool) *state.Chunk {
	if _, touched := w.touched.slices[key]; have != nil && !touched && !rebuild {
		return have
	}
	slice, _ := w.objects[key].(*discoveryv1.EndpointSlice)
	return w.sliceChunk(key, host, slice, def)
}

// chunksOf are the chunks of a shard by their source.
func chunksOf(s *state.Shard) map[model.ObjectKey]*state.Chunk {
	if s == nil {
		return nil
	}
	out := make(map[model.ObjectKey]*state.Chunk, len(s.Chunks))
	for _, c := range s.Chunks {
		out[c.Source] = c
	}
	return out
}

// reuseChunks takes those that there were if they came out the same.
func reuseChunks(s *state.Shard, have map[model.ObjectKey]*state.Chunk) {
	for i, c := range s.Chunks {
		if h := have[c.Source]; h != nil && h != c && sameChunk(h, c) {
			s.Chunks[i] = h
		}
	}
}

// finishShard puts the candidates of all chunks in one list. An address and port
// name that an earlier slice has counts once: the first by the slices' names.
func finishShard(s, prev *state.Shard) *state.Shard {
	if prev != nil && slices.Equal(prev.Chunks, s.Chunks) {
		return prev
	}
	type listed struct{ address, port string }
	seen := make(map[listed]struct{}, 64)
	for _, chunk := range s.Chunks {
		for _, c := range chunk.Candidates {
			if c.Endpoint != nil && chunk.Source.Kind == model.KindEndpointSlice {
				k := listed{c.Endpoint.Address(), c.PortName}
				if _, dup := seen[k]; dup {
					twin := *c
					twin.Endpoint, twin.Reason = nil, model.ReasonDuplicateAddress
					c = &twin
				}
				seen[k] = struct{}{}
			}
			if c.Endpoint != nil {
				s.Endpoints++
			}
			s.Candidates = append(s.Candidates, c)
		}
	}
	return s
}

func accounts(s *state.ServiceState) []string {
	set := map[string]struct{}{}
	for _, c := range s.Candidates() {
		if c.Endpoint != nil && c.Endpoint.Workload.ServiceAccount != "" {
			set[c.Endpoint.Workload.ServiceAccount] = struct{}{}
		}
	}
	return sortedKeys(set, compareStrings)
}

func shardOf(s *state.ServiceState, key model.ShardKey) *state.Shard {
	if s != nil {
		for _, sh := range s.Shards {
			if sh.Key == key {
				return sh
			}
		}
	}
	return nil
}

func sameService(a, b *state.ServiceState) bool {
	return slices.Equal(a.Shards, b.Shards) && reflect.DeepEqual(a.Definitions, b.Definitions)
}

func sameChunk(a, b *state.Chunk) bool {
	return a.ResourceVersion == b.ResourceVersion && slices.EqualFunc(a.Candidates, b.Candidates, sameCandidate)
}

// sameCandidate compares by value; workloads are compared as pointers first.
func sameCandidate(a, b *model.Candidate) bool {
	if a == b {
		return true
	}
	if a.Address != b.Address || a.PortName != b.PortName || a.Port != b.Port || a.Reason != b.Reason ||
		*a.Source != *b.Source || !samePointed(a.Target, b.Target) || (a.Endpoint == nil) != (b.Endpoint == nil) {
		return false
	}
	return a.Endpoint == nil || sameEndpoint(a.Endpoint, b.Endpoint)
}

func sameEndpoint(a, b *model.Endpoint) bool {
	return a.Port == b.Port && a.PortName == b.PortName && a.LegacyPort == b.LegacyPort && a.Weight == b.Weight &&
		a.Health == b.Health && a.SendUnhealthy == b.SendUnhealthy && a.SameClusterOnly == b.SameClusterOnly && slices.Equal(a.Addresses, b.Addresses) &&
		a.Workload.Equal(b.Workload)
}

func samePointed[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
