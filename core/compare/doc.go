// Package compare says in what two accounts of a proxy's endpoints differ.
//
// In goes a Set of each side: Edsight's own view of a snapshot, or a Document that
// istiod or Envoy wrote. Out comes a Difference: the clusters that only one side
// has, and of each other cluster the endpoints that only one side has or that are
// not the same, field by field. Between snapshots, Proxies counts for each proxy
// how much its view differs.
//
// Everything here is pure, and only outbound clusters are looked at: the others
// are the proxy's own. Why Edsight does not send an endpoint is package explain's
// to say; ParseCluster gives the cluster's name as the question wants it.
//
// Documents are hostile input: their size, depth and number of objects are
// limited, and what is wrong with one is said in words for its owner.
package compare
