// Package eds builds what one view of one cluster gets: the assignment of
// endpoints to localities, and beside it a Reason for each candidate that is
// not in it.
//
// Build is pure: a ServiceState and a View in, an Assignment out. Proxies whose
// Views are equal get the same Assignment. The stages, in order: port, subset,
// node and cluster, health, network, locality, priority, weight. Conservation
// holds: every candidate of the service is sent, or has exactly one Reason.
package eds
