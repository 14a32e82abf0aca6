package ads

import (
	"fmt"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// codec hands requests over as bytes and takes responses as lists of buffers, so
// that what all proxies get is serialised once and copied by nobody.
type codec struct{}

// Name implements encoding.CodecV2.
func (codec) Name() string { return "proto" }

// Marshal implements encoding.CodecV2.
func (codec) Marshal(v any) (mem.BufferSlice, error) {
	switch m := v.(type) {
	case mem.BufferSlice:
		return m, nil
	case proto.Message:
		b, err := proto.Marshal(m)
		return mem.BufferSlice{mem.SliceBuffer(b)}, err
	}
	return nil, fmt.Errorf("encode %T: not a message", v)
}

// Unmarshal implements encoding.CodecV2.
func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	switch m := v.(type) {
	case *mem.Buffer:
		*m = data.MaterializeToBuffer(mem.DefaultBufferPool()) // to be freed by who asked
		return nil
	case proto.Message:
		return proto.Unmarshal(data.Materialize(), m)
	}
	return fmt.Errorf("decode %T: not a message", v)
}
