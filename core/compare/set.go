package compare

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
)

// Endpoint is one endpoint of a cluster.
type Endpoint struct {
	// Address is "host:port", or the path of a pipe.
	Address string `json:"address"`
	// Health is "healthy", "unhealthy", "draining", "degraded", "timeout" or
	// notHealthy, and in Envoy's words what it found out by itself.
	Health   string `json:"health"`
	Priority uint32 `json:"priority"`
	Locality string `json:"locality,omitempty"`
	Weight   uint32 `json:"weight"`
	// LocalityWeight is that of the whole locality, 0 if it is not said.
	LocalityWeight uint32 `json:"localityWeight,omitempty"`
	// Idle tells that Envoy has it and found out itself that it should get no requests.
	Idle bool `json:"idle,omitempty"`
}

// notHealthy is all that Envoy's config_dump says of an endpoint which is draining,
// unhealthy or ejected.
const notHealthy = "not healthy"

// Set is what one side says of a proxy's outbound clusters.
type Set struct {
	// Clusters have their endpoints from the control plane, by name; endpoints are
	// sorted.
	Clusters map[string][]Endpoint
	// Elsewhere are the clusters whose endpoints the proxy finds by itself.
	Elsewhere map[string]bool
	// Whole tells that a cluster which is not named is not there.
	Whole bool
}

// Of is what Edsight says: the assignments of a proxy's clusters.
func Of(clusters []cds.Cluster) Set { return of(clusters, nil) }

// of leaves the endpoints out of a cluster that is made of the same as one of like.
func of(clusters, like []cds.Cluster) Set {
	s := Set{Clusters: map[string][]Endpoint{}, Elsewhere: map[string]bool{}, Whole: true}
	for i := range clusters {
		c := &clusters[i]
		if !outbound(c.Name) {
			continue // the proxy's own
		}
		for len(like) > 0 && like[0].Name < c.Name {
			like = like[1:]
		}
		switch {
		case c.Type != cds.EDS:
			s.Elsewhere[c.Name] = true
		case len(like) > 0 && like[0].Type == cds.EDS && like[0].Service == c.Service && like[0].View == c.View:
			s.Clusters[c.Name] = nil
		default:
			s.Clusters[c.Name] = ours(c.Assignment())
		}
	}
	return s
}

// ours lists the endpoints of an assignment as assigned does those of its message,
// which would cost far more to make.
func ours(a *eds.Assignment) []Endpoint {
	list := make([]Endpoint, 0, a.Sent())
	for _, l := range a.Localities {
		locality := l.Locality.String()
		for i := range l.Endpoints {
			e := &l.Endpoints[i]
			list = append(list, Endpoint{
				Address: ourAddress(e), Health: ourHealth(e.Health), Priority: l.Priority,
				Locality: locality, Weight: max(e.Weight, 1), LocalityWeight: l.Weight,
			})
		}
	}
	sortEndpoints(list)
	return list
}

func ourAddress(e *eds.LbEndpoint) string {
	if e.Port == 0 && !e.Tunnel {
		return strings.TrimPrefix(e.Address, "unix://")
	}
	return net.JoinHostPort(e.Address, strconv.FormatUint(uint64(e.Port), 10))
}

func ourHealth(h model.HealthStatus) string {
	switch h {
	case model.UnHealthy, model.Draining:
		return h.String()
	case model.HealthUnset, model.Healthy, model.Terminating:
	}
	return model.Healthy.String()
}

// assigned lists the endpoints of a message of EDS.
func assigned(m *endpointv3.ClusterLoadAssignment) []Endpoint {
	list := []Endpoint{}
	for _, l := range m.GetEndpoints() {
		for _, e := range l.GetLbEndpoints() {
			list = append(list, Endpoint{
				Address: addressText(e.GetEndpoint().GetAddress()), Health: healthText(e.GetHealthStatus()), Priority: l.GetPriority(),
				Locality: localityText(l.GetLocality()), Weight: max(e.GetLoadBalancingWeight().GetValue(), 1),
				LocalityWeight: l.GetLoadBalancingWeight().GetValue(),
			})
		}
	}
	sortEndpoints(list)
	return list
}

func sortEndpoints(list []Endpoint) {
	slices.SortFunc(list, func(a, b Endpoint) int {
		return cmp.Or(
			strings.Compare(a.Address, b.Address), cmp.Compare(a.Priority, b.Priority), strings.Compare(a.Locality, b.Locality),
			strings.Compare(a.Health, b.Health), cmp.Compare(a.Weight, b.Weight), cmp.Compare(a.LocalityWeight, b.LocalityWeight),
		)
	})
}

// addressText is the address behind a tunnel, if there is one.
func addressText(a *corev3.Address) string {
	switch {
	case a.GetEnvoyInternalAddress() != nil:
		return a.GetEnvoyInternalAddress().GetEndpointId()
	case a.GetPipe() != nil:
		return a.GetPipe().GetPath()
	}
	s := a.GetSocketAddress()
	return net.JoinHostPort(s.GetAddress(), strconv.FormatUint(uint64(s.GetPortValue()), 10))
}

func localityText(l *corev3.Locality) string {
	return model.Locality{Region: l.GetRegion(), Zone: l.GetZone(), Subzone: l.GetSubZone()}.String()
}

// healthText is the status in words. Envoy takes an endpoint of unknown health for
// a healthy one.
func healthText(h corev3.HealthStatus) string {
	if h == corev3.HealthStatus_UNKNOWN {
		h = corev3.HealthStatus_HEALTHY
	}
	return strings.ToLower(h.String())
}
