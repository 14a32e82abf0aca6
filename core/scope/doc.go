// Package scope says what a proxy may see: for each hostname the one definition
// that it uses, and why, and of all others why they are not in use.
//
// A snapshot and a proxy go in, a Scope comes out. It depends on services,
// Sidecars, VirtualServices, DestinationRules and the mesh's defaults, and on
// nothing that changes with endpoints: proxies of one Key share a Scope for as
// long as the configuration stays, which is what Cache is for.
//
// It also picks the DestinationRule in force, and says why another one is not.
//
// Every definition is either imported or excluded for one reason, and the result
// does not depend on the order in which objects came.
package scope
