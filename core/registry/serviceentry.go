package registry

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	networking "istio.io/api/networking/v1alpha3"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
)

func (w *World) indexServiceEntry(key model.ObjectKey, o source.Object) {
	e, _ := o.(*networkingv1.ServiceEntry)
	var hosts []term
	if e != nil {
		for _, h := range e.Spec.GetHosts() {
			hosts = append(hosts, term{"", key.Namespace, h})
		}
	}
	w.hosts.set(key, hosts...)
	if e != nil && e.Spec.GetWorkloadSelector() != nil {
		w.selecting[key] = struct{}{}
	} else {
		delete(w.selecting, key)
	}
}

func (w *World) touchServiceEntry(key model.ObjectKey, objects ...source.Object) {
	if key.Cluster != w.config {
		return // Istio objects of other clusters do not count, but for WorkloadEntries
	}
	w.touched.configs[key] = struct{}{}
	for _, o := range objects {
		if e, ok := o.(*networkingv1.ServiceEntry); ok && e != nil {
			for _, h := range e.Spec.GetHosts() {
				w.touchService(model.ServiceKey{Hostname: model.Hostname(h), Namespace: key.Namespace})
			}
		}
	}
}

// entriesPart adds the definitions and the shard of the ServiceEntries which
// have the host, the oldest first.
func (w *World) entriesPart(next, prev *state.ServiceState) {
	shard := &state.Shard{Key: model.ShardKey{Provider: model.ProviderExternal, Cluster: w.config}}
	if !w.discovered(w.config, next.Key.Namespace) {
		return
	}
	for _, e := range w.entriesOf(next.Key) {
		defs := w.entryServices(next.Key, e)
		next.Definitions = append(next.Definitions, defs...)
		shard.Chunks = append(shard.Chunks, w.entryChunks(e, defs)...)
	}
	if len(shard.Chunks) == 0 {
		return
	}
	reuseChunks(shard, chunksOf(shardOf(prev, shard.Key)))
	next.Shards = append(next.Shards, shard)
}

// entriesOf returns the ServiceEntries with the host, the oldest first.
func (w *World) entriesOf(key model.ServiceKey) []*networkingv1.ServiceEntry {
	var out []*networkingv1.ServiceEntry
	for _, k := range w.hosts.get(term{"", key.Namespace, string(key.Hostname)}) {
		if e, ok := w.objects[k].(*networkingv1.ServiceEntry); ok && k.Cluster == w.config {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b *networkingv1.ServiceEntry) int {
		if c := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); c != 0 {
			return c
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return out
}

func entryKey(cluster model.ClusterID, e *networkingv1.ServiceEntry) model.ObjectKey {
	return model.ObjectKey{Cluster: cluster, Kind: model.KindServiceEntry, Namespace: e.Namespace, Name: e.Name}
}

// entryServices makes the services of one host of a ServiceEntry: one for each
// of its addresses, or a single one without.
func (w *World) entryServices(key model.ServiceKey, e *networkingv1.ServiceEntry) []*model.Service {
	base := model.Service{
		Key: key, Name: string(key.Hostname), Provider: model.ProviderExternal, Object: entryKey(w.config, e), ObjectName: e.Name,
		ResourceVersion: "", Created: e.CreationTimestamp.Time, Labels: e.Labels, Resolution: resolution(e.Spec.GetResolution()),
		MeshExternal: e.Spec.GetLocation() == networking.ServiceEntry_MESH_EXTERNAL, ServiceAccounts: e.Spec.GetSubjectAltNames(),
		TrafficDistribution: trafficDistribution(e.Annotations[model.AnnotationTrafficDist], nil),
		DefaultAddress:      unspecifiedIP,
	}
	if len(e.Spec.GetExportTo()) > 0 {
		base.ExportTo = exportTo(strings.Join(e.Spec.GetExportTo(), ","))
	}
	if s := e.Spec.GetWorkloadSelector(); s != nil {
		base.Selector = s.GetLabels()
	}
	for _, p := range e.Spec.GetPorts() {
		base.Ports = append(base.Ports, model.Port{
			Name: p.GetName(), Number: p.GetNumber(), Protocol: model.ParseProtocol(p.GetProtocol()), TargetPort: p.GetTargetPort(),
		})
		if base.Resolution == model.Passthrough && p.GetTargetPort() != 0 {
			if base.PassthroughTargetPorts == nil {
				base.PassthroughTargetPorts = map[uint32]uint32{}
			}
			base.PassthroughTargetPorts[p.GetNumber()] = p.GetTargetPort()
		}
	}
	addresses := entryAddresses(e.Spec.GetAddresses())
	if len(e.Spec.GetAddresses()) == 0 {
		base.AutoAllocatedV4, base.AutoAllocatedV6 = w.allocated(e, string(key.Hostname))
		addresses = []string{unspecifiedIP}
	}
	out := make([]*model.Service, 0, len(addresses))
	for _, a := range addresses {
		s := base
		s.DefaultAddress = a
		out = append(out, &s)
	}
	return out
}

// entryAddresses leaves out what is neither an address nor a range, and takes
// the mask off a range of one.
func entryAddresses(addresses []string) []string {
	var out []string
	for _, a := range addresses {
		if _, err := netip.ParseAddr(a); err == nil {
			out = append(out, a)
		} else if p, err := netip.ParsePrefix(a); err == nil {
			if p.IsSingleIP() {
				a = p.Addr().String()
			}
			out = append(out, a)
		}
	}
	return out
}

func resolution(r networking.ServiceEntry_Resolution) model.Resolution {
	switch r {
	case networking.ServiceEntry_NONE:
		return model.Passthrough
	case networking.ServiceEntry_STATIC:
		return model.ClientSideLB
	case networking.ServiceEntry_DNS:
		return model.DNSLB
	case networking.ServiceEntry_DNS_ROUND_ROBIN:
		return model.DNSRoundRobinLB
	case networking.ServiceEntry_DYNAMIC_DNS:
		return model.DynamicDNS
	}
	return model.ClientSideLB
}

// entryChunks makes the candidates of a ServiceEntry for one host: of the
// workloads it selects, or of its own endpoints, or of the host itself.
func (w *World) entryChunks(e *networkingv1.ServiceEntry, defs []*model.Service) []*state.Chunk {
	key := entryKey(w.config, e)
	if e.Spec.GetWorkloadSelector() != nil {
		return w.selectedChunks(e, defs)
	}
	chunk := &state.Chunk{Source: key, ResourceVersion: e.ResourceVersion}
	endpoints := e.Spec.GetEndpoints()
	dns := e.Spec.GetResolution() == networking.ServiceEntry_DNS || e.Spec.GetResolution() == networking.ServiceEntry_DNS_ROUND_ROBIN
	if len(endpoints) == 0 && dns && len(defs) > 0 {
		endpoints = []*networking.WorkloadEntry{{Address: string(defs[0].Key.Hostname)}}
	}
	workloads := make([]*model.Workload, len(endpoints))
	for i, ep := range endpoints {
		workloads[i] = w.inlineWorkload(e, ep, len(e.Spec.GetEndpoints()) == 0)
	}
	for range defs {
		for _, p := range e.Spec.GetPorts() {
			for i, ep := range endpoints {
				chunk.Candidates = append(chunk.Candidates, entryCandidate(chunk, nil, ep, workloads[i], p))
			}
		}
	}
	if len(chunk.Candidates) == 0 {
		return nil
	}
	return []*state.Chunk{chunk}
}

// inlineWorkload is what stands behind an endpoint of a ServiceEntry. The host of
// a DNS entry without endpoints stands for itself, without labels.
func (w *World) inlineWorkload(e *networkingv1.ServiceEntry, ep *networking.WorkloadEntry, host bool) *model.Workload {
	if host {
		return &model.Workload{Object: entryKey(w.config, e), Cluster: w.config, TLSMode: "disabled"}
	}
	out := w.entryWorkload(w.config, e.Namespace, ep, ep.GetLabels())
	out.Object = entryKey(w.config, e)
	return out
}

// entryCandidate is one endpoint at one port of a ServiceEntry.
func entryCandidate(chunk *state.Chunk, target *model.ObjectKey, ep *networking.WorkloadEntry, workload *model.Workload, p *networking.ServicePort) *model.Candidate {
	address, port := ep.GetAddress(), p.GetNumber()
	switch {
	case strings.HasPrefix(address, "unix://"):
		address, port = strings.TrimPrefix(address, "unix://"), 0
	case ep.GetPorts()[p.GetName()] > 0:
		port = ep.GetPorts()[p.GetName()]
	case p.GetTargetPort() > 0:
		port = p.GetTargetPort()
	}
	c := &model.Candidate{Source: &chunk.Source, Target: target, Address: address, PortName: p.GetName(), Port: port}
	c.Endpoint = &model.Endpoint{
		Workload: workload, Addresses: []string{address}, PortName: p.GetName(), Port: port,
		LegacyPort: p.GetNumber(), Weight: ep.GetWeight(),
	}
	return c
}
