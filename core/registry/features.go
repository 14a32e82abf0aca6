package registry

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/edsight/edsight/core/state"
)

// Features are those of Istio's feature flags that have a meaning here.
type Features = state.Features

// ParseFeatures reads flags by the names of istiod's environment variables. It names
// the others, which have no meaning here: most of istiod's are not about endpoints.
func ParseFeatures(env map[string]string) (f Features, others []string, err error) {
	sendsHBONE, lookups, entriesInServices, podsInEntries, allocation := true, true, true, true, true
	flags := map[string]*bool{
		"PILOT_ENABLE_AMBIENT": &f.Ambient, "PILOT_PREFER_SENDING_HBONE": &f.PreferHBONE, "PILOT_ENABLE_SENDING_HBONE": &sendsHBONE,
		"RESOLVE_HOSTNAME_GATEWAYS":                &lookups,
		"PILOT_ENABLE_K8S_SELECT_WORKLOAD_ENTRIES": &entriesInServices, "PILOT_ENABLE_SERVICEENTRY_SELECT_PODS": &podsInEntries,
		"PILOT_ENABLE_IP_AUTOALLOCATE":   &allocation,
		"ISTIO_DUAL_STACK":               &f.DualStack,
		"PILOT_SEND_UNHEALTHY_ENDPOINTS": &f.SendUnhealthy, "PILOT_FILTER_GATEWAY_CLUSTER_CONFIG": &f.FilterGateways,
		"PILOT_SCOPE_GATEWAY_TO_NAMESPACE": &f.ScopeGateways,
		"ENABLE_MCS_SERVICE_DISCOVERY":     &f.ServiceExports, "ENABLE_MCS_HOST": &f.ServiceImports,
		"ENABLE_MCS_CLUSTER_LOCAL": &f.ClusterLocalHosts,
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		flag, value := flags[name], env[name]
		switch {
		case flag == nil:
			others = append(others, name)
		case value == "": // as if it were not set
		default:
			if *flag, err = strconv.ParseBool(value); err != nil {
				return Features{}, nil, fmt.Errorf("%s: %q is neither true nor false", name, value)
			}
		}
	}
	f.NoLookups, f.NoAllocation = !lookups, !allocation
	f.NoEntriesInServices, f.NoPodsInEntries = !entriesInServices, !podsInEntries
	// Without the ambient mesh istiod passes over what is about it.
	f.PreferHBONE, f.NoHBONE = f.PreferHBONE && f.Ambient, !sendsHBONE && f.Ambient
	return f, others, nil
}
