package server

import (
	"net/http"
	"strings"
	"testing"
)

// TestFindingsAreMetrics: what push_status lists is counted under istiod's names,
// also where there is nothing.
func TestFindingsAreMetrics(t *testing.T) {
	s := newTestServer(t, newFakeCore(), Options{Token: testToken})
	a := do(t, client(), http.MethodGet, s.url+"/metrics", bearer)
	for _, line := range []string{
		"pilot_no_ip 1", "endpoint_no_pod 1", "pilot_eds_no_instances 0", "pilot_destrule_subsets 0", "pilot_services 1", "pilot_virt_services 0",
	} {
		if !strings.Contains(a.body, "\n"+line+"\n") {
			t.Errorf("metrics lack %s", line)
		}
	}
}
