package debugz

import (
	"encoding/json"
	"time"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/session"
)

// Types of xDS.
const (
	typeCluster         = typePrefix + "envoy.config.cluster.v3.Cluster"
	typeListener        = typePrefix + "envoy.config.listener.v3.Listener"
	typeRoute           = typePrefix + "envoy.config.route.v3.RouteConfiguration"
	typeEndpoint        = typePrefix + "envoy.config.endpoint.v3.ClusterLoadAssignment"
	typeExtensionConfig = typePrefix + "envoy.config.core.v3.TypedExtensionConfig"
)

// SyncStatus is an element of syncz.
type SyncStatus struct {
	ClusterID            model.ClusterID         `json:"cluster_id,omitempty"`
	Proxy                string                  `json:"proxy,omitempty"`
	ProxyType            model.ProxyType         `json:"proxy_type,omitempty"`
	ProxyVersion         string                  `json:"proxy_version,omitempty"`
	IstioVersion         string                  `json:"istio_version,omitempty"`
	ClusterSent          string                  `json:"cluster_sent,omitempty"`
	ClusterAcked         string                  `json:"cluster_acked,omitempty"`
	ListenerSent         string                  `json:"listener_sent,omitempty"`
	ListenerAcked        string                  `json:"listener_acked,omitempty"`
	RouteSent            string                  `json:"route_sent,omitempty"`
	RouteAcked           string                  `json:"route_acked,omitempty"`
	EndpointSent         string                  `json:"endpoint_sent,omitempty"`
	EndpointAcked        string                  `json:"endpoint_acked,omitempty"`
	ExtensionConfigSent  string                  `json:"extensionconfig_sent,omitempty"`
	ExtensionConfigAcked string                  `json:"extensionconfig_acked,omitempty"`
	Resources            map[string]ResourceSync `json:"resources,omitempty"`
}

// ResourceSync is what was sent of one type, and what was acknowledged.
type ResourceSync struct {
	Sent      string    `json:"sent,omitempty"`
	Acked     string    `json:"acked,omitempty"`
	SentTime  time.Time `json:"sentTime,omitzero"`
	LastError string    `json:"lastError,omitempty"`
}

// Syncs gives the elements of syncz.
func Syncs(list []session.Session) []SyncStatus {
	all := make([]SyncStatus, 0, len(list))
	for i := range list {
		all = append(all, newSync(&list[i]))
	}
	return all
}

func newSync(s *session.Session) SyncStatus {
	j := SyncStatus{
		ClusterID: s.Node.Pod.Cluster, Proxy: s.Proxy, ProxyType: s.Node.Type, ProxyVersion: s.Node.EnvoyVersion,
		IstioVersion: s.Node.IstioVersion, Resources: map[string]ResourceSync{},
	}
	for _, t := range s.Types {
		j.Resources[t.URL] = ResourceSync{Sent: t.Sent.Nonce, Acked: t.Acked.Nonce, SentTime: t.Sent.Time, LastError: t.Error}
		switch t.URL {
		case typeCluster:
			j.ClusterSent, j.ClusterAcked = t.Sent.Nonce, t.Acked.Nonce
		case typeListener:
			j.ListenerSent, j.ListenerAcked = t.Sent.Nonce, t.Acked.Nonce
		case typeRoute:
			j.RouteSent, j.RouteAcked = t.Sent.Nonce, t.Acked.Nonce
		case typeEndpoint:
			j.EndpointSent, j.EndpointAcked = t.Sent.Nonce, t.Acked.Nonce
		case typeExtensionConfig:
			j.ExtensionConfigSent, j.ExtensionConfigAcked = t.Sent.Nonce, t.Acked.Nonce
		}
	}
	return j
}

// Connections is the body of connections, and of adsz, whose clients say more.
type Connections struct {
	Total   int          `json:"totalClients"`
	Clients []Connection `json:"clients,omitempty"`
}

// Connection is one client. Connections leaves what follows the address out.
type Connection struct {
	ID          string              `json:"connectionId"`
	ConnectedAt time.Time           `json:"connectedAt"`
	Address     string              `json:"address"`
	Labels      model.Labels        `json:"labels,omitempty"`
	Metadata    json.RawMessage     `json:"metadata,omitempty"`
	Locality    *Locality           `json:"locality,omitempty"`
	Watches     map[string][]string `json:"watches,omitempty"`
}

// Locality is the locality of a client.
type Locality struct {
	Region  string `json:"region,omitempty"`
	Zone    string `json:"zone,omitempty"`
	Subzone string `json:"sub_zone,omitempty"`
}

// NewConnections gives the body of connections.
func NewConnections(list []session.Session) Connections {
	j := Connections{Total: len(list)}
	for _, s := range list {
		j.Clients = append(j.Clients, Connection{ID: s.ID, ConnectedAt: s.ConnectedAt, Address: s.Address})
	}
	return j
}

// ADS gives the body of adsz. watches tells by type the names that a client asks
// for.
func ADS(list []session.Session, watches func(id string) map[string][]string) Connections {
	j := NewConnections(list)
	for i, s := range list {
		c := &j.Clients[i]
		c.Labels, c.Metadata, c.Watches = s.Node.Labels, s.Node.Metadata, watches(s.ID)
		c.Locality = &Locality{s.Node.Locality.Region, s.Node.Locality.Zone, s.Node.Locality.Subzone}
	}
	return j
}
