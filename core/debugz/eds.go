package debugz

import (
	"fmt"
	"iter"

	adminv3 "github.com/envoyproxy/go-control-plane/envoy/admin/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/state"
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

// ConfigDump gives the elements of config_dump: the clusters as they are sent, and
// their endpoints if wanted.
func ConfigDump(clusters []cds.Cluster, mesh *state.Mesh, endpoints bool) ([]Message, error) {
	dump, err := clustersDump(clusters, mesh)
	if err != nil || !endpoints {
		return []Message{dump}, err
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
	return []Message{dump, {Message: assigned, Typed: true}}, nil
}

// ConfigDumpJSON is ConfigDump for writing as JSON, at a small part of the cost.
func ConfigDumpJSON(clusters []cds.Cluster, mesh *state.Mesh, endpoints bool) ([]any, error) {
	dump, err := clustersDump(clusters, mesh)
	if err != nil || !endpoints {
		return []any{dump}, err
	}
	return []any{dump, endpointsDump(clusters)}, nil
}

func clustersDump(clusters []cds.Cluster, mesh *state.Mesh) (Message, error) {
	dump := &adminv3.ClustersConfigDump{}
	for i := range clusters {
		m, err := clusters[i].Message(mesh)
		if err != nil {
			return Message{}, fmt.Errorf("encode %s: %w", clusters[i].Name, err)
		}
		boxed, err := box(m, clusters[i].Name)
		if err != nil {
			return Message{}, err
		}
		dump.DynamicActiveClusters = append(dump.DynamicActiveClusters, &adminv3.ClustersConfigDump_DynamicCluster{Cluster: boxed})
	}
	return Message{Message: dump, Typed: true}, nil
}

// endpointsDump is an EndpointsConfigDump of the clusters.
type endpointsDump []cds.Cluster

// AppendJSON adds protobuf's JSON with its type to b.
func (d endpointsDump) AppendJSON(b []byte) []byte {
	b = append(b, `{"@type":"type.googleapis.com/envoy.admin.v3.EndpointsConfigDump"`...)
	between := `,"dynamicEndpointConfigs":[`
	for a := range EDS(d) {
		b = append(b, between+`{"endpointConfig":`...)
		b = append(a.AppendJSON(b), '}')
		between = ","
	}
	if between == "," {
		b = append(b, ']')
	}
	return append(b, '}')
}

// MarshalJSON gives the same.
func (d endpointsDump) MarshalJSON() ([]byte, error) { return d.AppendJSON(nil), nil }

func box(m proto.Message, name string) (*anypb.Any, error) {
	boxed, err := anypb.New(m)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", name, err)
	}
	return boxed, nil
}
