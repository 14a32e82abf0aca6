package registry

import (
	"fmt"
	"strconv"
)

// Features are those of Istio's feature flags that have a meaning here. The zero
// value is Istio's default.
type Features struct {
	// Ambient is PILOT_ENABLE_AMBIENT: endpoints may be reached over HBONE.
	Ambient bool
	// ServiceExports is ENABLE_MCS_SERVICE_DISCOVERY: endpoints are for other
	// clusters only if their service is exported by a ServiceExport.
	ServiceExports bool
	// ServiceImports is ENABLE_MCS_HOST: a ServiceImport makes a service
	// NAME.NAMESPACE.svc.clusterset.local.
	ServiceImports bool
	// ClusterLocalHosts is ENABLE_MCS_CLUSTER_LOCAL: with ServiceExports, hosts
	// under cluster.local have the endpoints of the client's cluster only.
	ClusterLocalHosts bool
}

// ParseFeatures reads flags by the names of istiod's environment variables.
// Variables without a meaning here are passed over.
func ParseFeatures(env map[string]string) (Features, error) {
	var f Features
	for name, into := range map[string]*bool{
		"PILOT_ENABLE_AMBIENT": &f.Ambient, "ENABLE_MCS_SERVICE_DISCOVERY": &f.ServiceExports,
		"ENABLE_MCS_HOST": &f.ServiceImports, "ENABLE_MCS_CLUSTER_LOCAL": &f.ClusterLocalHosts,
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
