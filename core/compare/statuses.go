package compare

import (
	"fmt"
	"strings"

	adminv3 "github.com/envoyproxy/go-control-plane/envoy/admin/v3"
)

// parseStatuses reads Envoy's /clusters?format=json.
func parseStatuses(b []byte) (*Document, error) {
	m := &adminv3.Clusters{}
	if err := decode(b, m); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDocument, err)
	}
	d := &Document{Party: Envoy, Format: "clusters", Set: Set{Clusters: map[string][]Endpoint{}, Whole: true}}
	for _, c := range m.GetClusterStatuses() {
		if !outbound(c.GetName()) {
			continue // the proxy's own
		}
		if _, ok := d.Set.Clusters[c.GetName()]; ok {
			return nil, twice(c.GetName())
		}
		list := []Endpoint{}
		for _, h := range c.GetHostStatuses() {
			health, idle := hostHealth(h.GetHealthStatus())
			list = append(list, Endpoint{
				Address: addressText(h.GetAddress()), Health: health, Priority: h.GetPriority(),
				Locality: localityText(h.GetLocality()), Weight: max(h.GetWeight(), 1), Idle: idle,
			})
		}
		sortEndpoints(list)
		d.Set.Clusters[c.GetName()] = list
	}
	return d, nil
}

// hostHealth is what Envoy was told, and what it found out by itself; idle tells
// whether by the latter it should get no requests.
func hostHealth(h *adminv3.HostHealthStatus) (text string, idle bool) {
	parts := []string{healthText(h.GetEdsHealthStatus())}
	for _, f := range []struct {
		is, idle bool
		text     string
	}{
		{h.GetFailedOutlierCheck(), true, "ejected by outlier detection"},
		{h.GetFailedActiveHealthCheck(), true, "fails Envoy's health check"},
		{h.GetFailedActiveDegradedCheck(), false, "degraded by Envoy's health check"},
		{h.GetActiveHcTimeout(), true, "Envoy's health check times out"},
		{h.GetPendingActiveHc(), true, "awaits Envoy's first health check"},
		{h.GetExcludedViaImmediateHcFail(), true, "excluded by Envoy's health check"},
		{h.GetPendingDynamicRemoval(), false, "withdrawn, and kept as its health check succeeds"},
	} {
		if f.is {
			parts = append(parts, f.text)
			idle = idle || f.idle
		}
	}
	return strings.Join(parts, ", "), idle
}
