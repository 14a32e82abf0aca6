package debugz

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"

	adminv3 "github.com/envoyproxy/go-control-plane/envoy/admin/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/edsight/edsight/core/cds"
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

// ConfigDump gives the elements of config_dump: the clusters as they are sent, and
// their endpoints if wanted.
func ConfigDump(clusters []cds.Cluster, mesh *state.Mesh, endpoints bool) ([]Message, error) {
	dump, err := clustersDump(clusters, mesh)
	if err != nil || !endpoints {
		return []Message{dump}, err
	}
	assigned := &adminv3.EndpointsConfigDump{}
	for i := range clusters {
		a := clusters[i].Assignment()
		if a == nil {
			continue // its endpoints are not told by EDS
		}
		boxed, err := anypb.New(a.Message())
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", a.Cluster, err)
		}
		assigned.DynamicEndpointConfigs = append(assigned.DynamicEndpointConfigs,
			&adminv3.EndpointsConfigDump_DynamicEndpointConfig{EndpointConfig: boxed})
	}
	return []Message{dump, {Message: assigned, Typed: true}}, nil
}

// ConfigDumpJSON is ConfigDump for writing as JSON, at a small part of the cost. The
// endpoints are those of the texts.
func ConfigDumpJSON(clusters []cds.Cluster, mesh *state.Mesh, endpoints iter.Seq[Text]) ([]any, error) {
	dump, err := newClusterTexts(clusters, mesh)
	if err != nil || endpoints == nil {
		return []any{dump}, err
	}
	return []any{dump, endpointTexts(endpoints)}, nil
}

// clusterTexts is a ClustersConfigDump: each of its clusters as JSON.
type clusterTexts [][]byte

func newClusterTexts(clusters []cds.Cluster, mesh *state.Mesh) (clusterTexts, error) {
	list := make(clusterTexts, 0, len(clusters))
	err := eachMessage(clusters, mesh, func(m *clusterv3.Cluster) error {
		text, err := json.Marshal(Message{Message: m, Typed: true})
		list = append(list, text)
		return err
	})
	return list, err
}

// WriteTo writes protobuf's JSON with its type.
func (d clusterTexts) WriteTo(w io.Writer) (int64, error) {
	return writeDump(w, "ClustersConfigDump", "dynamicActiveClusters", "cluster", slices.Values(d))
}

// MarshalJSON gives the same.
func (d clusterTexts) MarshalJSON() ([]byte, error) { return textOf(d) }

func clustersDump(clusters []cds.Cluster, mesh *state.Mesh) (Message, error) {
	dump := &adminv3.ClustersConfigDump{}
	return Message{Message: dump, Typed: true}, eachMessage(clusters, mesh, func(m *clusterv3.Cluster) error {
		boxed, err := anypb.New(m)
		dump.DynamicActiveClusters = append(dump.DynamicActiveClusters, &adminv3.ClustersConfigDump_DynamicCluster{Cluster: boxed})
		return err
	})
}

// eachMessage calls take with each cluster as it is sent.
func eachMessage(clusters []cds.Cluster, mesh *state.Mesh, take func(*clusterv3.Cluster) error) error {
	for i := range clusters {
		m, err := clusters[i].Message(mesh)
		if err == nil {
			err = take(m)
		}
		if err != nil {
			return fmt.Errorf("encode %s: %w", clusters[i].Name, err)
		}
	}
	return nil
}

// endpointTexts is an EndpointsConfigDump.
type endpointTexts iter.Seq[Text]

// WriteTo writes protobuf's JSON with its type.
func (d endpointTexts) WriteTo(w io.Writer) (int64, error) {
	return writeDump(w, "EndpointsConfigDump", "dynamicEndpointConfigs", "endpointConfig", func(yield func([]byte) bool) {
		for t := range d {
			if !yield(t.json) {
				return
			}
		}
	})
}

// MarshalJSON gives the same.
func (d endpointTexts) MarshalJSON() ([]byte, error) { return textOf(d) }

// writeDump writes a dump of the admin API: the texts are members of the given name,
// each in an object of its own of the list.
func writeDump(w io.Writer, kind, list, member string, texts iter.Seq[[]byte]) (int64, error) {
	b := bufio.NewWriterSize(w, flushSize)
	n := 0
	put := func(s string) { k, _ := b.WriteString(s); n += k } // its error stays until Flush
	put(`{"@type":"` + typePrefix + "envoy.admin.v3." + kind + `"`)
	between := `,"` + list + `":[`
	for text := range texts {
		put(between + `{"` + member + `":`)
		k, err := b.Write(text)
		if n += k; err != nil {
			return int64(n), err
		}
		put("}")
		between = ","
	}
	if between == "," {
		put("]")
	}
	put("}")
	return int64(n), b.Flush()
}

func textOf(d io.WriterTo) ([]byte, error) {
	var b bytes.Buffer
	_, err := d.WriteTo(&b)
	return b.Bytes(), err
}
