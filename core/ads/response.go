package ads

import (
	"slices"
	"strings"

	"google.golang.org/grpc/mem"
)

// response is a message for one stream, of either protocol.
type response struct {
	delta     bool
	typeURL   string
	version   string
	nonce     string
	resources []*resource
	removed   []string // incremental only
}

// unique leaves out what is there twice: clients refuse it.
func (r *response) unique() {
	slices.SortStableFunc(r.resources, func(a, b *resource) int { return strings.Compare(a.name, b.name) })
	r.resources = slices.CompactFunc(r.resources, func(a, b *resource) bool { return a.name == b.name })
	slices.Sort(r.removed)
	r.removed = slices.Compact(r.removed)
}

// message gives the shared buffers of the resources, and at the end the few bytes
// that are this stream's; the order of fields does not matter.
func (r *response) message() mem.BufferSlice {
	out := make(mem.BufferSlice, 0, len(r.resources)+1)
	for _, one := range r.resources {
		if r.delta {
			out = append(out, one.delta)
		} else {
			out = append(out, one.sotw)
		}
	}
	const fieldVersion, fieldType, fieldNonce, fieldRemoved = 1, 4, 5, 6
	b := make([]byte, 0, len(r.typeURL)+len(r.version)+len(r.nonce)+16)
	b = appendString(b, fieldVersion, r.version)
	b = appendString(b, fieldType, r.typeURL)
	b = appendString(b, fieldNonce, r.nonce)
	for _, name := range r.removed {
		b = appendString(b, fieldRemoved, name)
	}
	return append(out, mem.SliceBuffer(b))
}
