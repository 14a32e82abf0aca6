package views

import (
	"time"

	"github.com/edsight/edsight/core/model"
)

// Proxies is the list of proxies.
type Proxies struct {
	State     State  `json:"state"`
	Query     string `json:"query,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	InMesh    int    `json:"inMesh"`
	// Only is "connected", "missing", "unacked" or "rejected" if those alone are
	// shown.
	Only string `json:"only,omitempty"`
	// Streams counts the open streams; Connected, Missing, Late and Rejecting count
	// proxies.
	Streams   int `json:"streams"`
	Connected int `json:"connected"`
	Missing   int `json:"missing"`
	Late      int `json:"unacked"`
	Rejecting int `json:"rejected"`
	// Strangers are clients without a Pod that is known.
	Strangers  []Stranger `json:"strangers,omitempty"`
	More       int        `json:"moreStrangers,omitempty"`
	Page       Page       `json:"page"`
	Proxies    []ProxyRow `json:"proxies"`
	Namespaces []string   `json:"-"`
}

// ProxyRow is one proxy in the list.
type ProxyRow struct {
	ID        string          `json:"id"`
	Type      model.ProxyType `json:"type"`
	Namespace string          `json:"namespace"`
	Cluster   model.ClusterID `json:"cluster"`
	Network   model.NetworkID `json:"network,omitempty"`
	Locality  string          `json:"locality,omitempty"`
	Node      string          `json:"node,omitempty"`
	Version   string          `json:"istioVersion,omitempty"`
	IPs       []string        `json:"ips"`
	// Connected is false if the proxy is modelled from its Pod.
	Connected bool `json:"connected"`
	// Missing tells that it is not, though its Pod runs a proxy, and others are connected.
	Missing bool `json:"missing,omitempty"`
	// Types are the states by type of its newest stream, Unacked is when the oldest
	// message without answer was sent.
	Types   []StreamType `json:"types,omitempty"`
	Unacked time.Time    `json:"oldestUnacked,omitzero"`
}

// Proxy is one proxy with its clusters.
type Proxy struct {
	State State `json:"state"`
	ProxyRow
	Pod            model.ObjectKey `json:"pod"`
	ServiceAccount string          `json:"serviceAccount,omitempty"`
	Labels         []Fact          `json:"labels"`
	Streams        []Stream        `json:"streams,omitempty"`
	Query          string          `json:"query,omitempty"`
	InScope        int             `json:"inScope"`
	Scope          Scope           `json:"scope"`
	// Excluded are shown in place of Clusters if they are asked for.
	Excluded []Excluded   `json:"excluded,omitempty"`
	Show     string       `json:"show,omitempty"`
	Page     Page         `json:"page"`
	Clusters []ClusterRow `json:"clusters"`
	// Opened is the cluster that is shown in full, or nil.
	Opened *Cluster `json:"cluster,omitempty"`
}

// ClusterRow is one cluster of a proxy.
type ClusterRow struct {
	Name    string     `json:"name"`
	Type    string     `json:"type"`
	Service ServiceRef `json:"service,omitzero"`
	Port    uint32     `json:"port,omitempty"`
	Subset  string     `json:"subset,omitempty"`
	// EDS tells that endpoints are assigned; otherwise Note says where they
	// come from.
	EDS  bool   `json:"eds"`
	Note string `json:"note,omitempty"`
	// Unused tells that there are candidates, or should be, and none is used; Note
	// says why.
	Unused bool `json:"unused,omitempty"`
	// Via is the Sidecar or VirtualService that brings the host into scope, nil if
	// everything is; Why says why this definition of it is used if there are others.
	Via *model.ObjectKey `json:"via,omitempty"`
	Why string           `json:"why,omitempty"`
	// Sent and Dropped count endpoints.
	Sent    int           `json:"sent"`
	Dropped int           `json:"dropped"`
	Reasons []ReasonCount `json:"reasons,omitempty"`
}

// Cluster is a cluster with its endpoints.
type Cluster struct {
	ClusterRow
	// Verdict says in one sentence what the proxy gets.
	Verdict    string     `json:"verdict"`
	Localities []Locality `json:"localities"`
	// Left are the candidates which the proxy does not get.
	Left []LeftOut `json:"leftOut"`
	// MoreSent and MoreLeft count what is not listed.
	MoreSent int `json:"moreSent,omitempty"`
	MoreLeft int `json:"moreLeft,omitempty"`
}

// Locality is the endpoints of one locality at one priority.
type Locality struct {
	Name      string     `json:"name"`
	Priority  uint32     `json:"priority"`
	Weight    uint32     `json:"weight"`
	Count     int        `json:"count"`
	Endpoints []Endpoint `json:"endpoints"`
}

// Endpoint is one endpoint as the proxy gets it.
type Endpoint struct {
	Address  string           `json:"address"`
	Weight   uint32           `json:"weight"`
	Health   string           `json:"health"`
	Workload string           `json:"workload,omitempty"`
	Target   *model.ObjectKey `json:"target,omitempty"`
	TLSMode  string           `json:"tlsMode,omitempty"`
	Gateway  bool             `json:"gateway,omitempty"`
}

// LeftOut is a candidate that the proxy does not get.
type LeftOut struct {
	Address  string           `json:"address"`
	PortName string           `json:"portName,omitempty"`
	Target   *model.ObjectKey `json:"target,omitempty"`
	Stage    string           `json:"stage"`
	Reason   model.Reason     `json:"reason"`
	Why      string           `json:"why"`
	Remedy   string           `json:"remedy,omitempty"`
}
