package debugz

import (
	"iter"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// Shards are the endpoints of one host in one namespace in endpointShardz.
type Shards struct {
	Shards          map[model.ShardKey][]Endpoint
	ServiceAccounts map[string]struct{}
}

// Endpoint is one endpoint in endpointShardz.
type Endpoint struct {
	Labels                 model.Labels
	Addresses              []string
	ServicePortName        string
	LegacyClusterPortKey   uint32
	ServiceAccount         string
	Network                model.NetworkID
	Locality               EndpointLocality
	EndpointPort           uint32
	LbWeight               uint32
	TLSMode                string
	Namespace              string
	WorkloadName           string
	HostName               string
	SubDomain              string
	HealthStatus           model.HealthStatus
	SendUnhealthyEndpoints bool
	NodeName               string
}

// EndpointLocality is where an endpoint is.
type EndpointLocality struct {
	Label     string
	ClusterID model.ClusterID
}

// EndpointShards gives the members of endpointShardz by hostname: for each the
// shards by namespace. A service that has had endpoints stays with no shards.
func EndpointShards(snap *state.Snapshot) iter.Seq2[string, map[string]Shards] {
	return func(yield func(string, map[string]Shards) bool) {
		var (
			host   model.Hostname
			shards map[string]Shards
		)
		for svc := range snap.Services() {
			if len(svc.Shards) == 0 {
				continue // no endpoints were ever offered for it
			}
			if shards != nil && svc.Key.Hostname != host {
				if !yield(string(host), shards) {
					return
				}
				shards = nil
			}
			if shards == nil {
				host, shards = svc.Key.Hostname, map[string]Shards{}
			}
			shards[svc.Key.Namespace] = newShards(svc)
		}
		if shards != nil {
			yield(string(host), shards)
		}
	}
}

func newShards(svc *state.ServiceState) Shards {
	s := Shards{
		Shards:          make(map[model.ShardKey][]Endpoint, len(svc.Shards)),
		ServiceAccounts: make(map[string]struct{}, len(svc.ServiceAccounts)),
	}
	for _, sh := range svc.Shards {
		if sh.Endpoints > 0 {
			s.Shards[sh.Key] = endpoints(sh)
		}
	}
	for _, a := range svc.ServiceAccounts {
		s.ServiceAccounts[a] = struct{}{}
	}
	return s
}

func endpoints(sh *state.Shard) []Endpoint {
	list := make([]Endpoint, 0, sh.Endpoints)
	for _, c := range sh.Candidates {
		if c.Endpoint != nil {
			list = append(list, NewEndpoint(c.Endpoint))
		}
	}
	return list
}

// NewEndpoint gives one endpoint as endpointShardz shows it.
func NewEndpoint(e *model.Endpoint) Endpoint {
	w := e.Workload
	if w == nil {
		w = &model.Workload{}
	}
	return Endpoint{
		Labels: w.Labels, Addresses: e.Addresses, ServicePortName: e.PortName,
		LegacyClusterPortKey: e.LegacyPort, ServiceAccount: w.ServiceAccount, Network: w.Network,
		Locality:     EndpointLocality{Label: localityLabel(w), ClusterID: w.Cluster},
		EndpointPort: e.Port, LbWeight: e.Weight, TLSMode: w.TLSMode, Namespace: w.Namespace,
		WorkloadName: w.Name, HostName: w.HostName, SubDomain: w.SubDomain, HealthStatus: e.Health,
		SendUnhealthyEndpoints: e.SendUnhealthy, NodeName: w.Node,
	}
}

// localityLabel gives the locality as Istio keeps it: that of a Node always has
// three parts, one that was written into a label or entry has as many as there.
func localityLabel(w *model.Workload) string {
	if w.Locality == (model.Locality{}) {
		return ""
	}
	if w.Object.Kind == model.KindPod && w.Labels[model.LabelIstioLocality] == "" {
		return w.Locality.Region + "/" + w.Locality.Zone + "/" + w.Locality.Subzone
	}
	return w.Locality.String()
}
