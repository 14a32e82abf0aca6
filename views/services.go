package views

import "github.com/edsight/edsight/core/model"

// Services is the list of services.
type Services struct {
	State     State  `json:"state"`
	Query     string `json:"query,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Only restricts the list: "trouble" to services with any, "empty" to those
	// without ready endpoints, "held" to those with candidates held back.
	Only     string       `json:"only,omitempty"`
	InMesh   int          `json:"inMesh"`
	Page     Page         `json:"page"`
	Services []ServiceRow `json:"services"`
	// Elsewhere are other places where the query finds something.
	Elsewhere  []Link   `json:"elsewhere,omitempty"`
	Namespaces []string `json:"-"`
}

// ServiceRow is one service in the list.
type ServiceRow struct {
	ServiceRef
	// Provider is "" if only a slice names the service.
	Provider   string      `json:"provider,omitempty"`
	Type       string      `json:"type,omitempty"`
	Resolution string      `json:"resolution,omitempty"`
	Ports      []PortRow   `json:"ports"`
	VIPs       []ClusterIP `json:"vips,omitempty"`
	// Ready and Endpoints count addresses with ports in all shards; Held counts
	// the candidates that are not endpoints.
	Ready     int `json:"ready"`
	Endpoints int `json:"endpoints"`
	Held      int `json:"held"`
	// Stray counts those of the endpoints that no proxy gets, as no port of the
	// service has the name of theirs.
	Stray       int `json:"stray,omitempty"`
	Definitions int `json:"definitions"`
	// Trouble is what somebody should look at, in few words.
	Trouble []string `json:"trouble,omitempty"`
}

// PortRow is a port of a service.
type PortRow struct {
	Name     string         `json:"name"`
	Number   uint32         `json:"number"`
	Protocol model.Protocol `json:"protocol"`
	Target   string         `json:"target,omitempty"`
	// Ready and Endpoints count those whose port name is this one's; they are
	// only filled in on the page of the service.
	Ready     int `json:"ready,omitempty"`
	Endpoints int `json:"endpoints,omitempty"`
}

// ClusterIP is a virtual address in one cluster.
type ClusterIP struct {
	Cluster model.ClusterID `json:"cluster"`
	Address string          `json:"address"`
}
