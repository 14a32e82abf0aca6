// Package control is the one writer. It takes the keys of changed objects from a
// source, compiles what they touch, compares, publishes the next snapshot with
// one atomic store, and appends the transition to the journal.
//
// It waits for nobody, with one exception: a turn that brings a gateway which is a
// name waits for the name's addresses, up to ten seconds for the first state and one
// for a later one. Before that no proxy could be told how to reach what is behind it.
package control
