package registry

import (
	"fmt"
	"strconv"

	"github.com/edsight/edsight/core/state"
)

// Features are those of Istio's feature flags that have a meaning here.
type Features = state.Features

// ParseFeatures reads flags by the names of istiod's environment variables.
// Variables without a meaning here are passed over.
func ParseFeatures(env map[string]string) (Features, error) {
	var f Features
	for name, into := range map[string]*bool{
		"PILOT_ENABLE_AMBIENT": &f.Ambient, "ISTIO_DUAL_STACK": &f.DualStack,
		"PILOT_SEND_UNHEALTHY_ENDPOINTS": &f.SendUnhealthy, "PILOT_FILTER_GATEWAY_CLUSTER_CONFIG": &f.FilterGateways,
		"PILOT_SCOPE_GATEWAY_TO_NAMESPACE": &f.ScopeGateways,
		"ENABLE_MCS_SERVICE_DISCOVERY":     &f.ServiceExports, "ENABLE_MCS_HOST": &f.ServiceImports,
		"ENABLE_MCS_CLUSTER_LOCAL": &f.ClusterLocalHosts,
	} {
		value := env[name]
		if value == "" {
			continue // not set
		}
		on, err := strconv.ParseBool(value)
		if err != nil {
			return f, fmt.Errorf("%s: %q is neither true nor false", name, value)
		}
		*into = on
	}
	return f, nil
}
