package state

import (
	"slices"

	"github.com/edsight/edsight/core/model"
)

// PushType says how much has to be looked at again.
type PushType uint8

// The types, in the order of the lattice.
const (
	PushNone PushType = iota
	PushIncremental
	PushFull
)

// String gives "none", "incremental" or "full".
func (t PushType) String() string {
	switch t {
	case PushNone:
		return "none"
	case PushIncremental:
		return "incremental"
	case PushFull:
		return "full"
	}
	return "invalid"
}

// MarshalText gives the same as String.
func (t PushType) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// PushScope is what a push has to look at: nothing, the endpoints of some
// services, or everything. The zero value is nothing.
type PushScope struct {
	Type PushType
	// Services of an incremental push, sorted and without repetition.
	Services []model.ServiceKey
}

// IncrementalScope is the scope of these services' endpoints.
func IncrementalScope(keys ...model.ServiceKey) PushScope {
	if len(keys) == 0 {
		return PushScope{}
	}
	keys = slices.Clone(keys)
	slices.SortFunc(keys, model.ServiceKey.Compare)
	return PushScope{Type: PushIncremental, Services: slices.Compact(keys)}
}

// FullScope is the scope of everything.
func FullScope() PushScope { return PushScope{Type: PushFull} }

// Union is the smallest scope that covers both. It is commutative, associative
// and idempotent.
func (p PushScope) Union(o PushScope) PushScope {
	switch {
	case p.Type == PushFull || o.Type == PushFull:
		return FullScope()
	case p.Type == PushNone:
		return o
	case o.Type == PushNone:
		return p
	default:
		return IncrementalScope(append(slices.Clone(p.Services), o.Services...)...)
	}
}
