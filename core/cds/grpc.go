package cds

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/edsight/edsight/core/state"
)

// MessageGRPC returns a new message for a library of gRPC, which knows only part
// of what Envoy does and refuses some of the rest: STRICT_DNS among it, so that it
// reaches no ServiceEntry whose endpoints are names.
func (c *Cluster) MessageGRPC(mesh *state.Mesh) (*clusterv3.Cluster, error) {
	m, err := c.Message(mesh)
	if err != nil {
		return nil, err
	}
	if m.GetLbPolicy() != clusterv3.Cluster_RING_HASH {
		m.LbPolicy, m.LbConfig = clusterv3.Cluster_ROUND_ROBIN, nil
	}
	m.TypedExtensionProtocolOptions, m.UpstreamConnectionOptions = nil, nil
	m.CommonLbConfig = nil
	m.TransportSocket = nil // it has its own credentials, and refuses files of others
	return m, nil
}
