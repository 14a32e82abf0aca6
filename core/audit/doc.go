// Package audit says what is wrong in the configuration and in slices, as far as
// it follows from the state: objects that are valid, and without the effect that
// their author meant.
//
// In come a Snapshot and the mesh's ConfigMap; out come Problems, each with the
// object and field at fault and what would cure it. An object is judged by the
// state alone, so that the same state always gives the same list, in order.
package audit
