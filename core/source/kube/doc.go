// Package kube reads the objects of one Kubernetes cluster.
//
// In comes a connection to an API server; out go the keys of the Services,
// EndpointSlices, Pods, Nodes, Namespaces, the mesh ConfigMap and the Istio
// objects that changed there, and, when asked, the objects themselves, stripped
// of what Edsight does not use. Get, list and watch are all the rights it needs.
//
// Guarantees: every change that the API server still has a record of when asked
// is told, also after the API server was away; until then what was known stays.
// A kind that the cluster does not have is empty and is read as soon as its
// definition appears. A kind that may not be read is a Problem, and the others
// are read nevertheless.
package kube
