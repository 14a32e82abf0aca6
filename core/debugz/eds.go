package debugz

import (
	"fmt"
	"iter"

	adminv3 "github.com/envoyproxy/go-control-plane/envoy/admin/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/eds"
)

// Message is a protobuf message whose JSON is protobuf's own. A Typed one names
// its type in "@type".
type Message struct {
	Message proto.Message
	Typed   bool
}

// MarshalJSON gives protobuf's JSON. The white space that its encoder puts in at
// random is taken out by that of encoding/json.
func (m Message) MarshalJSON() ([]byte, error) {
	text, err := protojson.Marshal(m.Message)
	if err != nil || !m.Typed {
		return text, err
	}
	name := proto.MessageName(m.Message)
	if len(text) == len("{}") {
		return fmt.Appendf(nil, `{"@type":"%s%s"}`, typePrefix, name), nil
	}
	return append(fmt.Appendf(nil, `{"@type":"%s%s",`, typePrefix, name), text[1:]...), nil
}

const typePrefix = "type.googleapis.com/"

// Assignment is an element of edsz.
type Assignment struct{ *eds.Assignment }

// AppendJSON adds protobuf's JSON with its type to b.
func (a Assignment) AppendJSON(b []byte) []byte {
	return a.Assignment.AppendJSON(b, `"@type":"type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"`)
}

// MarshalJSON gives the same.
func (a Assignment) MarshalJSON() ([]byte, error) { return a.AppendJSON(nil), nil }

// EDS gives the elements of edsz: the assignments of the EDS clusters, each
// built when it is its turn.
func EDS(clusters []cds.Cluster) iter.Seq[Assignment] {
	return func(yield func(Assignment) bool) {
		for i := range clusters {
			if a := clusters[i].Assignment(); a != nil && !yield(Assignment{a}) {
				return
			}
		}
	}
}

// ConfigDump gives the elements of config_dump: the clusters, and their
// endpoints if wanted.
func ConfigDump(clusters []cds.Cluster, endpoints bool) ([]Message, error) {
	dump := &adminv3.ClustersConfigDump{}
	for i := range clusters {
		boxed, err := box(cluster(&clusters[i]), clusters[i].Name)
		if err != nil {
			return nil, err
		}
		dump.DynamicActiveClusters = append(dump.DynamicActiveClusters, &adminv3.ClustersConfigDump_DynamicCluster{Cluster: boxed})
	}
	if !endpoints {
		return []Message{{Message: dump, Typed: true}}, nil
	}
	assigned := &adminv3.EndpointsConfigDump{}
	for m := range EDS(clusters) {
		boxed, err := box(m.Message(), "assignment")
		if err != nil {
			return nil, err
		}
		assigned.DynamicEndpointConfigs = append(assigned.DynamicEndpointConfigs,
			&adminv3.EndpointsConfigDump_DynamicEndpointConfig{EndpointConfig: boxed})
	}
	return []Message{{Message: dump, Typed: true}, {Message: assigned, Typed: true}}, nil
}

func box(m proto.Message, name string) (*anypb.Any, error) {
	boxed, err := anypb.New(m)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", name, err)
	}
	return boxed, nil
}

// cluster gives what is known of a cluster: its name, type and endpoints.
func cluster(c *cds.Cluster) *clusterv3.Cluster {
	m := &clusterv3.Cluster{Name: c.Name, ClusterDiscoveryType: &clusterv3.Cluster_Type{Type: discoveryType(c.Type)}}
	if c.Type == cds.EDS {
		m.EdsClusterConfig = &clusterv3.Cluster_EdsClusterConfig{ServiceName: c.EDSServiceName}
	}
	if c.Inline != nil {
		m.LoadAssignment = c.Inline.Message()
	}
	return m
}

func discoveryType(t cds.Type) clusterv3.Cluster_DiscoveryType {
	switch t {
	case cds.EDS:
		return clusterv3.Cluster_EDS
	case cds.StrictDNS:
		return clusterv3.Cluster_STRICT_DNS
	case cds.LogicalDNS:
		return clusterv3.Cluster_LOGICAL_DNS
	case cds.OriginalDst:
		return clusterv3.Cluster_ORIGINAL_DST
	case cds.Static:
		return clusterv3.Cluster_STATIC
	}
	return clusterv3.Cluster_STATIC
}
