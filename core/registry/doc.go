// Package registry turns objects into services and endpoint candidates.
//
// A World holds the current objects with the indexes that tell what an object
// concerns; Set notes which services an object's change touches, Compile makes
// their states out of the World. It depends on nothing but the objects, so that a
// state compiled after any sequence of events equals the one compiled from scratch.
//
// The World belongs to the one writer; what Compile returns is immutable.
package registry
