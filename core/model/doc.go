// Package model holds the nouns of the mesh: services, ports, endpoints,
// workloads, localities, shards, proxies, and the reasons for which an endpoint
// is absent from a proxy's view.
//
// All values are immutable once another package has seen them. The package
// depends on the standard library only; names and meanings are Istio 1.28's.
package model
