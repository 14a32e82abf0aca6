package views

import (
	"time"

	"github.com/edsight/edsight/core/model"
)

// Service is one host in one namespace, with all that is known of it.
type Service struct {
	State State `json:"state"`
	ServiceRow
	// Verdict says in one sentence how it stands.
	Verdict string `json:"verdict"`
	// Healthy tells that there is nothing to be worried about in the verdict.
	Healthy bool `json:"healthy"`
	// Definition counts; nil if only a slice names the service.
	Definition *Definition `json:"definition,omitempty"`
	// Others are further definitions of the host, here and in other namespaces.
	Others []OtherDefinition `json:"others,omitempty"`
	Shards []ShardRow        `json:"shards"`
	// Subsets are those that DestinationRules make of it.
	Subsets []SubsetRow `json:"subsets,omitempty"`
	// Users says which proxies use which definition of the host.
	Users []Users `json:"users,omitempty"`
	// Views are the groups of proxies which get the same; MoreViews counts those
	// that have no column.
	Views     []ViewColumn `json:"views"`
	MoreViews int          `json:"moreViews,omitempty"`
	// AllViews tells that all were asked for.
	AllViews bool `json:"allViews,omitempty"`
	// ViewsNote says why there is no column, "" if there is one.
	ViewsNote string `json:"viewsNote,omitempty"`
	// Reasons why candidates are not endpoints.
	Reasons []ReasonCount `json:"reasons,omitempty"`
	// StrayPorts are port names of endpoints that no port of the service has.
	StrayPorts []StrayPort `json:"strayPorts,omitempty"`
	// Slices of the shown page, each with its candidates.
	Slices  []Slice `json:"slices"`
	Page    Page    `json:"page"`
	Only    string  `json:"only,omitempty"`
	History []Row   `json:"history"`
}

// Definition is what one object says of the service.
type Definition struct {
	Object          model.ObjectKey `json:"object"`
	Provider        string          `json:"provider"`
	ResourceVersion string          `json:"resourceVersion,omitempty"`
	Created         time.Time       `json:"created,omitzero"`
	// Facts are the properties worth a line, in order.
	Facts []Fact `json:"facts"`
}

// Fact is a property in words.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// OtherDefinition is another definition of the same host.
type OtherDefinition struct {
	ServiceRef
	Object  model.ObjectKey `json:"object"`
	Created time.Time       `json:"created,omitzero"`
	// Standing says what it means for clients.
	Standing string `json:"standing"`
}

// ShardRow is the contribution of one provider in one cluster.
type ShardRow struct {
	Key        string `json:"key"`
	Sources    int    `json:"sources"` // slices, entries and selected workloads
	Candidates int    `json:"candidates"`
	Endpoints  int    `json:"endpoints"`
	Ready      int    `json:"ready"`
}

// SubsetRow is a subset of the service: Ready of Endpoints have its labels.
type SubsetRow struct {
	Rule      model.ObjectKey `json:"rule"`
	Name      string          `json:"name"`
	Labels    string          `json:"labels"`
	Endpoints int             `json:"endpoints"`
	Ready     int             `json:"ready"`
	// Of is the number of all endpoints of the service.
	Of int `json:"of"`
	// Explain is the page that asks about it for a proxy.
	Explain string `json:"explain,omitempty"`
}

// StrayPort is a port name which endpoints have and the service has not.
type StrayPort struct {
	Name      string `json:"name"`
	Endpoints int    `json:"endpoints"`
}

// Slice is one source of candidates.
type Slice struct {
	Source          model.ObjectKey `json:"source"`
	ResourceVersion string          `json:"resourceVersion,omitempty"`
	Shard           string          `json:"shard"`
	Candidates      []Candidate     `json:"candidates"`
}

// Candidate is one address on its way from the slice to the shard.
type Candidate struct {
	Address  string           `json:"address"`
	PortName string           `json:"portName,omitempty"`
	Target   *model.ObjectKey `json:"target,omitempty"`
	Workload string           `json:"workload,omitempty"`
	Locality string           `json:"locality,omitempty"`
	Node     string           `json:"node,omitempty"`
	// Admitted tells that it is in the shard, with Health; otherwise there is a
	// Reason.
	Admitted bool         `json:"admitted"`
	Health   string       `json:"health,omitempty"`
	Reason   model.Reason `json:"reason,omitempty"`
	// Why and Remedy are the reason in words.
	Why    string `json:"why,omitempty"`
	Remedy string `json:"remedy,omitempty"`
	// Verdicts has one for each of the Views of the service.
	Verdicts []Verdict `json:"verdicts,omitempty"`
	// PortKnown is false if no port of the service has the port name.
	PortKnown bool `json:"portKnown"`
}

// ViewColumn is a group of proxies that get the same endpoints of a service.
type ViewColumn struct {
	// Name says what the proxies have in common.
	Name    string `json:"name"`
	Proxies int    `json:"proxies"`
	// Example is one of them, and Cluster what it calls the service's first port.
	Example string `json:"example"`
	Cluster string `json:"cluster"`
	// Odd tells that they get other endpoints than the largest group.
	Odd bool `json:"odd,omitempty"`
	// Missing counts those that are not connected, while others are. Late counts
	// those that owe an answer or refused what came last; Rejected the latter.
	Missing  int `json:"missing,omitempty"`
	Late     int `json:"late,omitempty"`
	Rejected int `json:"rejected,omitempty"`
}

// Verdict is what becomes of a candidate in a view.
type Verdict struct {
	Sent bool `json:"sent"`
	// Explain is the page that explains it.
	Explain  string       `json:"explain,omitempty"`
	Priority uint32       `json:"priority"`
	Weight   uint32       `json:"weight,omitempty"`
	Reason   model.Reason `json:"reason,omitempty"`
	// Why is the reason in words, with both sides of its comparison.
	Why string `json:"why,omitempty"`
	// Unacked counts the proxies that have not acknowledged this yet.
	Unacked int `json:"unacked,omitempty"`
}

// viewsURL is the page with all views, or with those that have a column unasked.
func (m *Service) viewsURL() string {
	if m.AllViews {
		return ServiceURL(m.key()) + "#endpoints"
	}
	return ServiceURL(m.key()) + "?views=all#endpoints"
}

// ExplainURL asks about the first port, or a subset of it, for a proxy that uses the
// service; where there is none the proxy is still to be named.
func (m *Service) ExplainURL(subset string) string {
	port, proxy := uint32(0), ""
	if len(m.Ports) > 0 {
		port = m.Ports[0].Number
	}
	if len(m.Views) > 0 {
		proxy = m.Views[0].Example
	}
	return ExplainURL(proxy, string(m.Host), port, subset, "")
}
