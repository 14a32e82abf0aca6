// Package session holds what is known of connected clients: who they are, what
// was sent to them, and what they answered. It has values only; who serves the
// clients fills them.
package session

import (
	"encoding/json"
	"time"

	"github.com/edsight/edsight/core/model"
)

// Session is one connected client as it was at one moment.
type Session struct {
	// ID is "<pod>.<namespace>-<number>".
	ID string
	// Proxy is the ID of the proxy, "<pod>.<namespace>".
	Proxy       string
	Node        Node
	Address     string
	ConnectedAt time.Time
	// Delta tells that the protocol is the incremental one.
	Delta bool
	// Types in the order of their URLs.
	Types []Type
}

// Node is what the client says of itself.
type Node struct {
	ID string
	// Pod of the proxy; its cluster is what the client says.
	Pod          model.ObjectKey
	Type         model.ProxyType
	IstioVersion string
	// EnvoyVersion is "" if the client does not say it, or is no Envoy.
	EnvoyVersion string
	// GRPC tells that the client is a library of gRPC.
	GRPC     bool
	Locality model.Locality
	Labels   model.Labels
	// Metadata is all of it, as JSON: few ask for it, and as text it is small.
	Metadata json.RawMessage
}

// Type is what was sent of one type of resources, and the answers.
type Type struct {
	URL string
	// Wildcard tells that everything of the type is asked for; Names counts what is
	// asked for by name.
	Wildcard bool
	Names    int
	// Sent is the last message, zero if there is none yet; Acked the last that was
	// acknowledged.
	Sent, Acked Message
	// Error is what the client says against the last message, or against an earlier one
	// that has something which it names and which was not sent since; "" if nothing.
	Error   string
	ErrorAt time.Time
	// Messages and Resources count all that was sent.
	Messages, Resources int
}

// Message is a response, with the moment of the event it stands for.
type Message struct {
	Version, Nonce string
	Time           time.Time
}

// Status of a type.
type Status string

// The states, with the names that istioctl knows.
const (
	NotSent Status = "NOT_SENT"
	Synced  Status = "SYNCED"
	Stale   Status = "STALE"
	Error   Status = "ERROR"
)

// Status tells whether the client has what was sent last.
func (t *Type) Status() Status {
	switch {
	case t.Sent.Nonce == "":
		return NotSent
	case t.Error != "":
		return Error
	case t.Sent.Nonce == t.Acked.Nonce:
		return Synced
	}
	return Stale
}

// Type returns what is known of a type; false if it is not asked for.
func (s *Session) Type(url string) (Type, bool) {
	for _, t := range s.Types {
		if t.URL == url {
			return t, true
		}
	}
	return Type{}, false
}
