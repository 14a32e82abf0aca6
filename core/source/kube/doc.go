// Package kube reads the objects of Kubernetes clusters.
//
// In comes a connection to an API server; out go the keys of the Services,
// EndpointSlices, Pods, Nodes, Namespaces, the mesh ConfigMap, the Istio objects
// and those of the multi-cluster services API that changed there, and, when
// asked, the objects themselves, stripped of what Edsight does not use. Get, list
// and watch are all the rights it needs.
//
// A Cluster is one cluster. A Mesh is the config cluster and the remote clusters
// whose kubeconfigs are in its Secrets with the label istio/multiCluster.
//
// Guarantees: every change that the API server still has a record of when asked
// is told, also after the API server was away; until then what was known stays.
// A kind that the cluster does not have is empty and is read as soon as its
// definition appears. A kind that may not be read is a Problem, and the others
// are read nevertheless.
//
// A remote cluster enters at once, when all of it is known, and leaves at once,
// with its last Secret. New credentials take over when they have read all that
// the old ones could; only what differs is told. One that cannot be reached
// delays the others for a bounded time. A kubeconfig that would start a program
// or read a file is a Problem.
package kube
