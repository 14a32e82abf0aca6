// Package scope says what a proxy may see: for each hostname the one definition
// that it uses, and why. It is pure; it reads exportTo, Sidecars and the mesh
// defaults of a snapshot.
package scope
