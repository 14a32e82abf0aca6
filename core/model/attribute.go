package model

import "strings"

// KnownAttribute tells whether conditions of AuthorizationPolicies can be about an
// attribute of that name. istiod leaves out rules with conditions on others.
func KnownAttribute(key string) bool {
	switch key {
	case "source.ip", "remote.ip", "source.namespace", "source.serviceAccount", "source.principal",
		"destination.ip", "destination.port", "connection.sni",
		"request.auth.principal", "request.auth.audiences", "request.auth.presenter":
		return true
	}
	return strings.HasPrefix(key, "request.headers") || strings.HasPrefix(key, "request.auth.claims") ||
		strings.HasPrefix(key, "experimental.envoy.filters.")
}
