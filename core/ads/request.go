package ads

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cespare/xxhash/v2"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// wildcard as a name stands for all resources of a type.
const wildcard = "*"

// request is a message of a client, of either protocol.
type request struct {
	node    *corev3.Node // nil if there is none
	typeURL string
	nonce   string
	// rejected is what the client says against the response, nil for an ACK.
	rejected *rpcstatus.Status
	// names of a state-of-the-world request, and their hash; they are left out if
	// the hash is the one of the request before.
	names []string
	hash  uint64
	// The rest is of incremental requests.
	subscribe, unsubscribe []string
	initial                map[string]version
}

// Bounds of a request, many times what the largest mesh needs.
const (
	maxNames  = 1 << 18
	maxName   = 4 << 10 // of one name, in bytes
	maxNode   = 1 << 20
	maxReason = 16 << 10 // of a refusal; what is longer is cut
)

var (
	errMalformed = errors.New("malformed request")
	errLimit     = errors.New("the request is over a limit")
)

// decodeSotW reads a state-of-the-world request. known tells the hash of the names
// last seen for a type.
func decodeSotW(b []byte, known func(typeURL string) (uint64, bool)) (*request, error) {
	r := &request{}
	h := xxhash.New()
	err := eachField(b, func(field protowire.Number, v []byte) error {
		switch field {
		case 2:
			return r.setNode(v)
		case 3:
			var end [1]byte
			_, _ = h.Write(v) // a hash takes everything
			_, _ = h.Write(end[:])
		case 4:
			return r.setType(v)
		case 5:
			r.nonce = string(v)
		case 6:
			return r.setError(v)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.hash = h.Sum64()
	if before, ok := known(r.typeURL); ok && before == r.hash {
		return r, nil
	}
	r.names = []string{}
	return r, eachField(b, func(field protowire.Number, v []byte) error {
		if field == 3 {
			return addName(&r.names, v)
		}
		return nil
	})
}

func addName(to *[]string, v []byte) error {
	if len(*to) == maxNames || len(v) > maxName {
		return fmt.Errorf("%w: more than %d names, or one of more than %d bytes", errLimit, maxNames, maxName)
	}
	*to = append(*to, string(v))
	return nil
}

// decodeDelta reads an incremental request.
func decodeDelta(b []byte) (*request, error) {
	r := &request{}
	return r, eachField(b, func(field protowire.Number, v []byte) error {
		switch field {
		case 1:
			return r.setNode(v)
		case 2:
			return r.setType(v)
		case 3:
			return addName(&r.subscribe, v)
		case 4:
			return addName(&r.unsubscribe, v)
		case 5:
			return r.setInitial(v, b)
		case 6:
			r.nonce = string(v)
		case 7:
			return r.setError(v)
		}
		return nil
	})
}

func (r *request) setNode(v []byte) error {
	if len(v) > maxNode {
		return fmt.Errorf("%w: a node of more than %d bytes", errLimit, maxNode)
	}
	r.node = &corev3.Node{}
	if err := proto.Unmarshal(v, r.node); err != nil {
		return fmt.Errorf("%w: node: %w", errMalformed, err)
	}
	return nil
}

func (r *request) setError(v []byte) error {
	r.rejected = &rpcstatus.Status{}
	if err := proto.Unmarshal(v, r.rejected); err != nil {
		return fmt.Errorf("%w: error_detail: %w", errMalformed, err)
	}
	if m := r.rejected.GetMessage(); len(m) > maxReason {
		r.rejected.Message = strings.ToValidUTF8(m[:maxReason], "") + " …"
	}
	r.rejected.Details = nil // nobody reads them
	return nil
}

// setInitial reads one initial version of the request b.
func (r *request) setInitial(v, b []byte) error {
	var name, have []byte
	err := eachField(v, func(field protowire.Number, v []byte) error {
		switch field {
		case 1:
			name = v
		case 2:
			have = v
		}
		return nil
	})
	if err != nil {
		return err
	}
	if r.initial == nil {
		n := 0 // most have one of each cluster, and room for all is made at once
		err := eachField(b, func(field protowire.Number, _ []byte) error {
			if field == 5 {
				n++
			}
			return nil
		})
		if err != nil {
			return err
		}
		r.initial = make(map[string]version, min(n, maxNames))
	}
	if len(r.initial) == maxNames || len(name) > maxName {
		return fmt.Errorf("%w: more than %d initial versions, or a name of more than %d bytes", errLimit, maxNames, maxName)
	}
	r.initial[string(name)] = parseVersion(string(have))
	return nil
}

// eachField calls f for the fields that are bytes.
func eachField(b []byte, f func(field protowire.Number, v []byte) error) error {
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("%w: %w", errMalformed, protowire.ParseError(n))
		}
		b = b[n:]
		var v []byte
		if kind == protowire.BytesType {
			v, n = protowire.ConsumeBytes(b)
		} else {
			n = protowire.ConsumeFieldValue(field, kind, b)
		}
		if n < 0 {
			return fmt.Errorf("%w: %w", errMalformed, protowire.ParseError(n))
		}
		b = b[n:]
		if kind != protowire.BytesType {
			continue // none that is read
		}
		if err := f(field, v); err != nil {
			return err
		}
	}
	return nil
}

// setType avoids a copy of the names that are served.
func (r *request) setType(v []byte) error {
	switch {
	case string(v) == typeCluster:
		r.typeURL = typeCluster
	case string(v) == typeEndpoint:
		r.typeURL = typeEndpoint
	case len(v) > maxName:
		return fmt.Errorf("%w: a type of more than %d bytes", errLimit, maxName)
	default:
		r.typeURL = strings.ToValidUTF8(string(v), "?")
	}
	return nil
}
