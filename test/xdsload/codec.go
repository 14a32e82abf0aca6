package main

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// rawCodec hands over received messages as bytes: 300 clients which each unmarshal thousands of
// clusters would take the CPU away from the server under test.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }
func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	switch m := v.(type) {
	case []byte:
		return mem.BufferSlice{mem.SliceBuffer(m)}, nil
	case proto.Message:
		b, err := proto.Marshal(m)
		return mem.BufferSlice{mem.SliceBuffer(b)}, err
	}
	return nil, fmt.Errorf("rawCodec: %T", v)
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	p, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("rawCodec: %T", v)
	}
	n := data.Len()
	if cap(*p) < n {
		*p = nil
		if b, ok := large.Get().(*[]byte); n > largeMessage && ok {
			*p = *b
		}
	}
	*p = slices.Grow((*p)[:0], n)[:n]
	data.CopyTo(*p)
	return nil
}

// largeMessage is more than an update has. A client which kept the buffer of its first
// response would make the machine find memory for all responses of all clients.
const largeMessage = 1 << 20

var large sync.Pool //nolint:gochecknoglobals // what one client needs no more is for any other

// reuse returns what can hold the next message: b, unless it is so large that another
// client shall have it.
func reuse(b []byte) []byte {
	if cap(b) <= largeMessage {
		return b
	}
	large.Put(&b)
	return nil
}

func dialXDS(addr string) (*grpc.ClientConn, error) {
	// The windows and the message limit are those of istio-agent's upstream connection.
	return grpc.NewClient("passthrough:///"+addr,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1.3, Jitter: .2, MaxDelay: 200 * time.Millisecond}, MinConnectTimeout: 5 * time.Second}),
		grpc.WithInitialWindowSize(1<<20), grpc.WithInitialConnWindowSize(1<<20),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{}), grpc.MaxCallRecvMsgSize(512<<20)))
}
