package registry

import (
	"reflect"
	"slices"
	"testing"
)

// Each flag turns one feature on, and each feature has a flag; those of HBONE need
// the ambient mesh.
func TestParseFeatures(t *testing.T) {
	seen := map[Features]string{}
	for _, name := range []string{
		"PILOT_ENABLE_AMBIENT", "ISTIO_DUAL_STACK", "PILOT_SEND_UNHEALTHY_ENDPOINTS", "PILOT_FILTER_GATEWAY_CLUSTER_CONFIG",
		"PILOT_SCOPE_GATEWAY_TO_NAMESPACE", "ENABLE_MCS_SERVICE_DISCOVERY", "ENABLE_MCS_HOST", "ENABLE_MCS_CLUSTER_LOCAL",
	} {
		on, others, err := ParseFeatures(map[string]string{name: "true", "PILOT_TRACE_SAMPLING": "1.5", "A": ""})
		if err != nil || on == (Features{}) || seen[on] != "" || !slices.Equal(others, []string{"A", "PILOT_TRACE_SAMPLING"}) {
			t.Errorf("%s gives %+v, as %q does, and names %q; error %v", name, on, seen[on], others, err)
		}
		seen[on] = name
		for _, value := range []string{"0", ""} {
			if off, others, err := ParseFeatures(map[string]string{name: value}); err != nil || off != (Features{}) || others != nil {
				t.Errorf("%s=%s gives %+v and names %q, error %v", name, value, off, others, err)
			}
		}
		if _, _, err := ParseFeatures(map[string]string{name: "maybe"}); err == nil {
			t.Errorf("%s: maybe is taken", name)
		}
	}
	for name, value := range map[string]string{"PILOT_PREFER_SENDING_HBONE": "true", "PILOT_ENABLE_SENDING_HBONE": "false"} {
		if got, _, err := ParseFeatures(map[string]string{name: value}); err != nil || got != (Features{}) {
			t.Errorf("%s alone gives %+v, error %v", name, got, err)
		}
		on, _, err := ParseFeatures(map[string]string{name: value, "PILOT_ENABLE_AMBIENT": "true"})
		if err != nil || seen[on] != "" {
			t.Errorf("%s gives %+v, error %v", name, on, err)
		}
		seen[on] = name
	}
	for _, name := range []string{
		"RESOLVE_HOSTNAME_GATEWAYS", "PILOT_ENABLE_K8S_SELECT_WORKLOAD_ENTRIES", "PILOT_ENABLE_SERVICEENTRY_SELECT_PODS", "PILOT_ENABLE_IP_AUTOALLOCATE",
	} {
		off, _, err := ParseFeatures(map[string]string{name: "false"})
		if err != nil || seen[off] != "" || off == (Features{}) {
			t.Errorf("%s turned off gives %+v, error %v", name, off, err)
		}
		if on, _, err := ParseFeatures(map[string]string{name: "true"}); err != nil || on != (Features{}) {
			t.Errorf("%s turned on gives %+v, error %v", name, on, err)
		}
		seen[off] = name
	}
	if n := reflect.TypeFor[Features]().NumField(); n != len(seen) {
		t.Errorf("%d features have %d flags", n, len(seen))
	}
}
