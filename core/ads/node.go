package ads

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/session"
)

const (
	nodeSeparator = "~"
	nodeParts     = 4
	maxNodeID     = 512
	generatorGRPC = "grpc"
)

var (
	errNode    = errors.New("node id is not <type>~<ip>~<pod>.<namespace>~<domain>")
	errAddress = errors.New("neither the node id nor INSTANCE_IPS in its metadata has a valid IP address")
)

// node is what a client says of itself in its first request: to the core, and for
// people to read.
type node struct {
	pinned registry.Pinned
	told   session.Node
}

// parseNode reads the node of a first request.
func parseNode(n *corev3.Node) (*node, error) {
	id := n.GetId()
	parts := strings.Split(id, nodeSeparator)
	if len(id) > maxNodeID || len(parts) != nodeParts {
		return nil, errNode
	}
	kind := model.ProxyType(parts[0])
	if kind != model.Sidecar && kind != model.Router {
		return nil, fmt.Errorf("%w: type is %q, not %q or %q", errNode, parts[0], model.Sidecar, model.Router)
	}
	dot := strings.LastIndexByte(parts[2], '.')
	if dot <= 0 || dot == len(parts[2])-1 {
		return nil, fmt.Errorf("%w: %q has no name and namespace", errNode, parts[2])
	}
	meta := n.GetMetadata().GetFields()
	text := func(name string) string { return meta[name].GetStringValue() }
	pod := model.ObjectKey{
		Cluster: model.ClusterID(text("CLUSTER_ID")), Kind: model.KindPod, Namespace: parts[2][dot+1:], Name: parts[2][:dot],
	}
	if pod.Cluster == "" {
		pod.Cluster = "Kubernetes"
	}
	p := &model.Proxy{
		ID: registry.ProxyID(pod), Type: kind, Pod: pod, Namespace: pod.Namespace, Cluster: pod.Cluster,
		Network: model.NetworkID(text("NETWORK")), Node: text("NODE_NAME"), Labels: labels(meta["LABELS"].GetStructValue()),
		ServiceAccount: text("SERVICE_ACCOUNT"), Version: text("ISTIO_VERSION"),
		Locality: model.Locality{Region: n.GetLocality().GetRegion(), Zone: n.GetLocality().GetZone(), Subzone: n.GetLocality().GetSubZone()},
		IPs:      addresses(parts[1], text("INSTANCE_IPS")),
		GRPC:     text("GENERATOR") == generatorGRPC,
	}
	if len(p.IPs) == 0 {
		return nil, errAddress
	}
	settings := map[string]string{}
	for _, name := range []string{"NETWORK", "REQUESTED_NETWORK_VIEW", "DISABLE_HBONE_SEND", "GENERATOR"} {
		if v := text(name); v != "" {
			settings[name] = v
		}
	}
	if v := settings["REQUESTED_NETWORK_VIEW"]; v != "" {
		for one := range strings.SplitSeq(v, ",") {
			p.NetworkView = append(p.NetworkView, model.NetworkID(one))
		}
	}
	metadata, err := encoded(n.GetMetadata())
	if err != nil {
		return nil, err
	}
	return &node{
		pinned: registry.Pinned{Pod: pod, Type: kind, Metadata: settings, Proxy: p},
		told: session.Node{
			ID: id, Pod: pod, Type: kind, IstioVersion: p.Version, EnvoyVersion: envoyVersion(n),
			GRPC: p.GRPC, Locality: p.Locality, Labels: p.Labels, Metadata: metadata,
		},
	}, nil
}

// encoded is metadata as JSON, nil if there is none.
func encoded(metadata *structpb.Struct) (json.RawMessage, error) {
	if len(metadata.GetFields()) == 0 {
		return nil, nil
	}
	b, err := json.Marshal(metadata.AsMap())
	if err != nil {
		return nil, fmt.Errorf("metadata of the node: %w", err)
	}
	return b, nil
}

func envoyVersion(n *corev3.Node) string {
	v := n.GetUserAgentBuildVersion().GetVersion()
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d", v.GetMajorNumber(), v.GetMinorNumber(), v.GetPatch())
}

func labels(s *structpb.Struct) model.Labels {
	out := model.Labels{}
	for k, v := range s.GetFields() {
		out[k] = v.GetStringValue()
	}
	return out
}

// addresses are the valid ones that a proxy names in its metadata, else that of its
// ID, as istiod takes them.
func addresses(id, instances string) []string {
	var out []string
	for a := range strings.SplitSeq(instances, ",") {
		if a = strings.TrimSpace(a); model.IsIP(a) {
			out = append(out, a)
		}
	}
	if len(out) == 0 && model.IsIP(id) {
		out = append(out, id)
	}
	return out
}
