// Package dataplane tests what real clients of xDS do with what Edsight sends:
// Envoy, and the library of gRPC.
package dataplane
