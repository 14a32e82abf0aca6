package views

import "time"

// Stream is an open connection of a proxy.
type Stream struct {
	ID          string    `json:"id"`
	Address     string    `json:"address"`
	ConnectedAt time.Time `json:"connectedAt"`
	// Protocol is "state of the world" or "incremental".
	Protocol     string       `json:"protocol"`
	IstioVersion string       `json:"istioVersion,omitempty"`
	EnvoyVersion string       `json:"envoyVersion,omitempty"`
	Types        []StreamType `json:"types"`
}

// StreamType is what was sent of one type over a stream, and what came back.
type StreamType struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	// Status is one of "NOT_SENT", "SYNCED", "STALE" and "ERROR".
	Status string `json:"status"`
	// Asked says in words what the proxy asks for.
	Asked      string    `json:"asked"`
	Version    string    `json:"version,omitempty"`
	Nonce      string    `json:"nonce,omitempty"`
	AckedNonce string    `json:"ackedNonce,omitempty"`
	Sent       time.Time `json:"sent,omitzero"`
	Acked      time.Time `json:"acked,omitzero"`
	Messages   int       `json:"messages"`
	Resources  int       `json:"resources"`
	Error      string    `json:"error,omitempty"`
	ErrorAt    time.Time `json:"errorAt,omitzero"`
}

// Stranger is a connected client without a Pod that is known.
type Stranger struct {
	ID      string `json:"id"`
	Address string `json:"address"`
}
