package server

import (
	"io"
	"net/http"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/debugz"
	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
)

// proxyJSON is a proxy as programs get it.
type proxyJSON struct {
	ID             string          `json:"id"`
	Type           model.ProxyType `json:"type"`
	Connected      bool            `json:"connected"`
	Namespace      string          `json:"namespace"`
	Cluster        model.ClusterID `json:"cluster"`
	Network        model.NetworkID `json:"network,omitempty"`
	Node           string          `json:"node,omitempty"`
	Locality       string          `json:"locality,omitempty"`
	Labels         model.Labels    `json:"labels,omitempty"`
	IPs            []string        `json:"ips"`
	ServiceAccount string          `json:"serviceAccount,omitempty"`
	Version        string          `json:"version,omitempty"`
}

func newProxy(p *model.Proxy, connected map[string]bool) proxyJSON {
	return proxyJSON{
		ID: p.ID, Type: p.Type, Connected: connected[p.ID], Namespace: p.Namespace, Cluster: p.Cluster, Network: p.Network, Node: p.Node,
		Locality: p.Locality.String(), Labels: p.Labels, IPs: p.IPs, ServiceAccount: p.ServiceAccount, Version: p.Version,
	}
}

// connectedIDs are the IDs of the proxies that have a stream.
func (s *Server) connectedIDs() map[string]bool {
	out := map[string]bool{}
	for _, one := range s.proxies.Sessions() {
		out[one.Proxy] = true
	}
	return out
}

// clusterJSON is a cluster of a proxy. Sent and Left count its candidates; the
// names of Left are reasons.
type clusterJSON struct {
	Name    string         `json:"name"`
	Type    cds.Type       `json:"type"`
	Service *keyJSON       `json:"service,omitempty"`
	Subset  string         `json:"subset,omitempty"`
	Sent    int            `json:"sent"`
	Left    map[string]int `json:"left,omitempty"`
}

func newClusterJSON(c *cds.Cluster) clusterJSON {
	j := clusterJSON{Name: c.Name, Type: c.Type, Subset: c.Subset}
	if c.Definition != nil {
		k := keyJSON(c.Definition.Key)
		j.Service = &k
	}
	a := c.Inline
	if a == nil {
		a = c.Assignment()
	}
	if a == nil {
		return j // the proxy finds the endpoints by itself
	}
	j.Sent, j.Left = a.Sent(), leftOut(a)
	return j
}

func leftOut(a *eds.Assignment) map[string]int {
	left := map[string]int{}
	for _, r := range a.Reasons {
		if r != model.ReasonNone {
			left[r.String()]++
		}
	}
	return left
}

func (s *Server) apiProxies(r *http.Request) (any, error) {
	snap := s.core.Snapshot()
	connected := s.connectedIDs()
	return newPage(r, snap.Version, snap.Proxies(), func(p *model.Proxy) proxyJSON { return newProxy(p, connected) })
}

func (s *Server) apiProxy(r *http.Request) (piecewise, error) {
	snap := s.core.Snapshot()
	p, err := s.findProxy(r, snap)
	if err != nil {
		return nil, err
	}
	clusters, proxy := s.clustersOf(snap, p), newProxy(p, s.connectedIDs())
	return func(w io.Writer, indent string) error {
		return debugz.WriteObject(w, func(yield func(string, any) bool) {
			list := make([]clusterJSON, len(clusters))
			for i := range clusters {
				list[i] = newClusterJSON(&clusters[i])
			}
			_ = yield("snapshot", snap.Version) && yield("proxy", proxy) && yield("clusters", list)
		}, indent)
	}, nil
}
