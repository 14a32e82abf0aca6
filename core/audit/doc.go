// Package audit says what is wrong in the configuration and in slices, as far as
// it follows from the state: objects that are valid, and without the effect that
// their author meant.
//
// In come a Snapshot, the mesh's ConfigMap and, for the slices, a Lookup of the
// objects that a snapshot does not hold; out come Problems and Findings, each with
// the object and field at fault and what would cure it. The same state and objects
// always give the same list, in order.
package audit
