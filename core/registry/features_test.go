package registry

import (
	"reflect"
	"testing"
)

// Each flag turns one feature on, and each feature has a flag.
func TestParseFeatures(t *testing.T) {
	seen := map[Features]string{}
	for _, name := range []string{
		"PILOT_ENABLE_AMBIENT", "ISTIO_DUAL_STACK", "PILOT_SEND_UNHEALTHY_ENDPOINTS", "PILOT_FILTER_GATEWAY_CLUSTER_CONFIG",
		"PILOT_SCOPE_GATEWAY_TO_NAMESPACE", "ENABLE_MCS_SERVICE_DISCOVERY", "ENABLE_MCS_HOST", "ENABLE_MCS_CLUSTER_LOCAL",
	} {
		on, err := ParseFeatures(map[string]string{name: "true", "PILOT_TRACE_SAMPLING": "1.5"})
		if err != nil || on == (Features{}) || seen[on] != "" {
			t.Errorf("%s gives %+v, as %q does; error %v", name, on, seen[on], err)
		}
		seen[on] = name
		if off, err := ParseFeatures(map[string]string{name: "0"}); err != nil || off != (Features{}) {
			t.Errorf("%s off gives %+v, error %v", name, off, err)
		}
		if _, err := ParseFeatures(map[string]string{name: "maybe"}); err == nil {
			t.Errorf("%s: maybe is taken", name)
		}
	}
	if n := reflect.TypeFor[Features]().NumField(); n != len(seen) {
		t.Errorf("%d features have %d flags", n, len(seen))
	}
}
