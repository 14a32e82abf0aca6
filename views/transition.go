package views

import (
	"time"

	"github.com/edsight/edsight/core/model"
)

// Transition is one step from one state to the next.
type Transition struct {
	State State   `json:"state"`
	Row   Row     `json:"transition"`
	Steps []Step  `json:"steps"`
	Push  Push    `json:"push"`
	Cause []Cause `json:"causes"`
	// Services that changed, at most as many as fit on a page.
	Services     []ServiceChange `json:"services"`
	MoreServices int             `json:"moreServices,omitempty"`
	// Others are changes that belong to no service.
	Others []OtherChange `json:"others,omitempty"`
	// Proxies that the push concerns, at most as many as fit on a page.
	Proxies     []ProxyRow `json:"proxies"`
	ProxyCount  int        `json:"proxyCount"`
	Prev, Next  uint64     `json:"-"`
	MoreCauses  int        `json:"moreCauses,omitempty"`
	ProxiesNote string     `json:"proxiesNote,omitempty"`
}

// fewCauses is how many causes are shown without being asked for.
const fewCauses = 12

// Push is the decision what to push.
type Push struct {
	Type     string       `json:"type"`
	Because  string       `json:"because"`
	Triggers []string     `json:"triggers,omitempty"`
	Services []ServiceRef `json:"services,omitempty"`
}

// Step is a moment on the way, with the time since the event.
type Step struct {
	Name string    `json:"name"`
	Time time.Time `json:"time,omitzero"`
	// SinceMS is the time since the first cause was seen.
	SinceMS float64 `json:"sinceMs"`
	// Note stands in place of a time that there is not.
	Note string `json:"note,omitempty"`
}

// Cause is one or several changes of one object.
type Cause struct {
	Object           model.ObjectKey `json:"object"`
	Op               string          `json:"op"`
	ResourceVersion  string          `json:"resourceVersion,omitempty"`
	ResourceVersions []string        `json:"resourceVersions,omitempty"`
	Actor            string          `json:"actor,omitempty"`
	Seen             time.Time       `json:"seen"`
	Merged           int             `json:"merged"`
}

// ServiceChange is the difference of one service.
type ServiceChange struct {
	Service ServiceRef `json:"service"`
	// Op is "came", "went" or "changed".
	Op        string           `json:"op"`
	Fields    []FieldChange    `json:"fields,omitempty"`
	Endpoints []EndpointChange `json:"endpoints,omitempty"`
	// More endpoints changed than are listed.
	More int `json:"more,omitempty"`
}

// FieldChange is a property of a service before and after.
type FieldChange struct {
	Field  string `json:"field"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// EndpointChange is what happened to one candidate.
type EndpointChange struct {
	Kind      string           `json:"kind"`
	Address   string           `json:"address"`
	PortName  string           `json:"portName,omitempty"`
	Shard     string           `json:"shard"`
	Source    model.ObjectKey  `json:"source,omitzero"`
	Target    *model.ObjectKey `json:"target,omitempty"`
	Before    string           `json:"before,omitempty"`
	After     string           `json:"after,omitempty"`
	Reason    model.Reason     `json:"reason,omitempty"`
	ReasonMsg string           `json:"reasonText,omitempty"`
}

// OtherChange is a change of an object or property that belongs to no service.
type OtherChange struct {
	Text   string          `json:"text"`
	Object model.ObjectKey `json:"object,omitzero"`
}
