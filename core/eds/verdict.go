package eds

import (
	"github.com/edsight/edsight/core/model"
)

// verdict says why the candidate is not in the view by itself; networks and
// localities are looked at later, with all endpoints together.
func verdict(v *View, shard model.ShardKey, c *model.Candidate) model.Reason {
	if c.Reason != model.ReasonNone {
		return c.Reason
	}
	e := c.Endpoint
	if e == nil || e.Workload == nil {
		return model.ReasonNoAddress
	}
	if !portMatches(v, e) {
		return model.ReasonPortNameMismatch
	}
	if !v.Inline && e.Port != 0 && e.Address() != "" && !model.IsIP(e.Address()) {
		return model.ReasonAddressNotIP
	}
	if !v.Subset.In(e.Workload.Labels) {
		return model.ReasonSubsetLabels
	}
	if r := placeVerdict(v, shard, e.Workload); r != model.ReasonNone {
		return r
	}
	if e.SameClusterOnly && shard.Cluster != v.ProxyCluster {
		return model.ReasonNotDiscoverable
	}
	if len(e.Addresses) == 0 && (v.Gateways == "" || sameNetwork(v.Network, e.Workload.Network)) {
		return model.ReasonNoAddress
	}
	return healthVerdict(v, e)
}

func portMatches(v *View, e *model.Endpoint) bool {
	if v.Inline && e.LegacyPort != 0 {
		return e.LegacyPort == v.Port
	}
	return e.PortName == v.PortName
}

func placeVerdict(v *View, shard model.ShardKey, w *model.Workload) model.Reason {
	switch {
	case v.NodeLocal && (w.Node != v.Node || shard.Cluster != v.ProxyCluster):
		return model.ReasonNodeLocal
	case v.ClusterLocal && (shard.Cluster != v.ProxyCluster || w.Cluster != v.ProxyCluster):
		return model.ReasonClusterLocal
	case v.NetworkView != "" && w.Network != "" && !v.NetworkView.Has(string(w.Network)):
		return model.ReasonNetworkView
	}
	return model.ReasonNone
}

func healthVerdict(v *View, e *model.Endpoint) model.Reason {
	switch {
	case e.Health == model.UnHealthy && !v.SendUnhealthy:
		return model.ReasonUnhealthy
	case e.Health == model.Terminating:
		return model.ReasonTerminating
	case health(e) == model.Draining && !v.PersistentSession:
		return model.ReasonDraining
	}
	return model.ReasonNone
}

// health is the status as it is sent.
func health(e *model.Endpoint) model.HealthStatus {
	if e.Workload.Draining {
		return model.Draining
	}
	return e.Health
}
