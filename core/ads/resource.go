package ads

import (
	"strconv"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// The types that are served.
const (
	typePrefix   = "type.googleapis.com/"
	typeCluster  = typePrefix + "envoy.config.cluster.v3.Cluster"
	typeEndpoint = typePrefix + "envoy.config.endpoint.v3.ClusterLoadAssignment"
	typeListener = typePrefix + "envoy.config.listener.v3.Listener"
	typeRoute    = typePrefix + "envoy.config.route.v3.RouteConfiguration"

	debugPrefix = "istio.io/debug"
)

// Numbers of fields; those of a resource in both kinds of responses are one.
const (
	fieldResources       = 2
	fieldResourceVersion = 1
	fieldResourceAny     = 2
	fieldResourceName    = 3
	fieldAnyType         = 1
	fieldAnyValue        = 2
)

// resource is one resource as it is sent, in the bytes of both protocols. It is
// immutable.
type resource struct {
	name string
	// version is the hash of the content.
	version version
	// delta is the field of an incremental response, sotw that of the other.
	delta, sotw mem.Buffer
}

// version identifies the content of a resource; 0 is none. The bit dueBit is not
// used, nor are the versions from reserved on.
type version uint64

const (
	dueBit   = 1
	reserved = ^version(3)
)

// String is how the version is written on the wire.
func (v version) String() string { return strconv.FormatUint(uint64(v), 16) }

// parseVersion is the inverse of String; what is no version of ours gives 0.
func parseVersion(s string) version {
	v, err := strconv.ParseUint(s, 16, 64)
	if err != nil || version(v) >= reserved {
		return 0
	}
	return version(v &^ dueBit)
}

// marshal makes the resource of a message.
func marshal(typeURL, name string, m proto.Message) (*resource, error) {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	return newResource(typeURL, name, b), nil
}

// newResource wraps a serialised message. A field of a state-of-the-world
// response is the end of the field of an incremental one: both hold an Any under
// the same number.
func newResource(typeURL, name string, message []byte) *resource {
	r := &resource{name: name, version: min(max(version(xxhash.Sum64(message)&^dueBit), 2), reserved-2)}
	v := r.version.String()
	anySize := protowire.SizeTag(fieldAnyType) + protowire.SizeBytes(len(typeURL)) +
		protowire.SizeTag(fieldAnyValue) + protowire.SizeBytes(len(message))
	size := protowire.SizeTag(fieldResourceName) + protowire.SizeBytes(len(name)) +
		protowire.SizeTag(fieldResourceVersion) + protowire.SizeBytes(len(v)) +
		protowire.SizeTag(fieldResourceAny) + protowire.SizeBytes(anySize)
	b := make([]byte, 0, protowire.SizeTag(fieldResources)+protowire.SizeBytes(size))
	b = protowire.AppendTag(b, fieldResources, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(size)) //nolint:gosec // sizes are not negative
	b = appendString(b, fieldResourceName, name)
	b = appendString(b, fieldResourceVersion, v)
	at := len(b)
	b = protowire.AppendTag(b, fieldResourceAny, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(anySize)) //nolint:gosec // sizes are not negative
	b = appendString(b, fieldAnyType, typeURL)
	b = protowire.AppendTag(b, fieldAnyValue, protowire.BytesType)
	b = protowire.AppendBytes(b, message)
	r.delta, r.sotw = mem.SliceBuffer(b), mem.SliceBuffer(b[at:])
	return r
}

func appendString(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

// same tells whether two resources have the same content.
func same(a, b *resource) bool {
	return a == b || (a != nil && b != nil && a.version == b.version)
}
