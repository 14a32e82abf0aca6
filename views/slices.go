package views

import (
	"net/url"
	"time"

	"github.com/edsight/edsight/core/model"
)

// Slices is the audit of EndpointSlices.
type Slices struct {
	State     State  `json:"state"`
	Kind      string `json:"kind,omitempty"`
	Query     string `json:"query,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Slices and Endpoints count what was looked at.
	Slices    int           `json:"slices"`
	Endpoints int           `json:"endpoints"`
	Kinds     []FindingKind `json:"kinds"`
	Findings  []Finding     `json:"findings"`
	Page      Page          `json:"page"`
	// Partial tells that the objects are not at hand, so that what only they tell is
	// left out.
	Partial    bool     `json:"partial,omitempty"`
	Namespaces []string `json:"-"`
}

// FindingKind is a sort of finding, and how many there are.
type FindingKind struct {
	Kind  string `json:"kind"`
	Text  string `json:"text"`
	Count int    `json:"count"`
}

// Finding is something about a slice that somebody should know.
type Finding struct {
	Kind    string          `json:"kind"`
	Text    string          `json:"text"`
	Object  model.ObjectKey `json:"object"`
	Service *ServiceRef     `json:"service,omitempty"`
	Field   string          `json:"field,omitempty"`
	Message string          `json:"message"`
	Remedy  string          `json:"remedy,omitempty"`
	// Since is zero if it is not known; AtLeast that it may be longer.
	Since   time.Time `json:"since,omitzero"`
	AtLeast bool      `json:"atLeast,omitempty"`
}

func (m *Slices) total() int {
	n := 0
	for _, k := range m.Kinds {
		n += k.Count
	}
	return n
}

// kindURL is the page with one kind of findings.
func (m *Slices) kindURL(kind string) string {
	q := url.Values{}
	for name, v := range map[string]string{"kind": kind, "namespace": m.Namespace, "q": m.Query} {
		if v != "" {
			q.Set(name, v)
		}
	}
	if len(q) == 0 {
		return "/slices"
	}
	return "/slices?" + q.Encode()
}
