package compare

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	adminv3 "github.com/envoyproxy/go-control-plane/envoy/admin/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// The types of configs that are read.
const (
	typeBootstrap  = "envoy.admin.v3.BootstrapConfigDump"
	typeEndpoints  = "envoy.admin.v3.EndpointsConfigDump"
	typeAssignment = "envoy.config.endpoint.v3.ClusterLoadAssignment"
)

// config is what every element of "configs" may have.
type config struct {
	Type      string `json:"@type"`
	Bootstrap struct {
		Node struct {
			ID string `json:"id"`
		} `json:"node"`
	} `json:"bootstrap"`
	// Dynamic is there in the spelling of Envoy, which istiod's JSON has not.
	Dynamic json.RawMessage `json:"dynamic_endpoint_configs"`
}

// dump gathers the assignments of a document.
type dump struct {
	Document
	found bool // something that lists endpoints
	list  []*endpointv3.ClusterLoadAssignment
}

// parseConfigs reads edsz and config_dump.
func parseConfigs(raw json.RawMessage) (*Document, error) {
	var configs []json.RawMessage
	if err := json.Unmarshal(raw, &configs); err != nil {
		return nil, fmt.Errorf("%w: %q is no list: %w", ErrDocument, keyConfigs, err)
	}
	d := &dump{Document: Document{Party: Istiod, Format: "config_dump"}}
	for i, c := range configs {
		if err := d.config(c); err != nil {
			return nil, fmt.Errorf("%w: element %d of %q: %w", ErrDocument, i, keyConfigs, err)
		}
	}
	if !d.found && len(configs) > 0 {
		return nil, fmt.Errorf("%w: it has no endpoints; ask for config_dump?include_eds (of istiod: include_eds=true)", ErrDocument)
	}
	if !d.found {
		return nil, fmt.Errorf("%w: %q is empty", ErrDocument, keyConfigs)
	}
	return d.document()
}

func (d *dump) config(raw json.RawMessage) error {
	var c config
	if err := json.Unmarshal(raw, &c); err != nil {
		return err
	}
	switch name := c.Type[strings.LastIndexByte(c.Type, '/')+1:]; name {
	case typeBootstrap:
		if id := c.Bootstrap.Node.ID; id != "" {
			d.Party, d.Proxy = Envoy, proxyOf(id)
		}
	case typeEndpoints:
		if c.Dynamic != nil {
			d.Party = Envoy
		}
		return d.endpoints(raw)
	case typeAssignment:
		d.Format, d.found = "edsz", true
		return d.assignment(func(m proto.Message) error { return decode(raw, m) })
	}
	return nil // of no concern here: listeners, routes, secrets
}

// proxyOf takes "<pod>.<namespace>" out of the ID of a node,
// "sidecar~<ip>~<pod>.<namespace>~<domain>".
func proxyOf(node string) string {
	if part := strings.Split(node, "~"); len(part) == 4 {
		return part[2]
	}
	return ""
}

func (d *dump) endpoints(raw json.RawMessage) error {
	m := &adminv3.EndpointsConfigDump{}
	if err := decode(raw, m); err != nil {
		return err
	}
	d.found = true
	for _, one := range m.GetDynamicEndpointConfigs() {
		if err := d.assignment(func(m proto.Message) error { return one.GetEndpointConfig().UnmarshalTo(m) }); err != nil {
			return err
		}
	}
	return nil
}

func (d *dump) assignment(read func(proto.Message) error) error {
	m := &endpointv3.ClusterLoadAssignment{}
	if err := read(m); err != nil {
		return err
	}
	if outbound(m.GetClusterName()) {
		d.list = append(d.list, m)
	}
	return nil
}

// document makes the Set once it is known who wrote it.
func (d *dump) document() (*Document, error) {
	d.Set = Set{Clusters: map[string][]Endpoint{}, Whole: d.Party == Envoy}
	for _, m := range d.list {
		name := m.GetClusterName()
		if _, ok := d.Set.Clusters[name]; ok {
			return nil, twice(name)
		}
		list := assigned(m)
		if d.Party == Envoy {
			for i := range list {
				list[i].Health = vague(list[i].Health)
				list[i].Idle = list[i].Health == notHealthy
			}
			sortEndpoints(list)
		}
		d.Set.Clusters[name] = list
	}
	return &d.Document, nil
}

// vague is what Envoy's config_dump means by a health: it does not tell draining
// from unhealthy and ejected.
func vague(health string) string {
	if health == "unhealthy" {
		return notHealthy
	}
	return health
}

func twice(cluster string) error {
	return fmt.Errorf("%w: cluster %s is there twice", ErrDocument, strconv.Quote(cluster))
}

// decode reads protobuf's JSON, in both spellings of names.
func decode(raw []byte, m proto.Message) error {
	return protojson.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: maxDepth, Resolver: types{}}.Unmarshal(raw, m)
}

// types knows the messages that are looked at; any other, of which a dump has many,
// is read as an empty one.
type types struct{ *protoregistry.Types }

// FindMessageByURL implements protoregistry.MessageTypeResolver.
func (types) FindMessageByURL(url string) (protoreflect.MessageType, error) {
	if url[strings.LastIndexByte(url, '/')+1:] == typeAssignment {
		return (&endpointv3.ClusterLoadAssignment{}).ProtoReflect().Type(), nil
	}
	return (&corev3.AggregatedConfigSource{}).ProtoReflect().Type(), nil
}
