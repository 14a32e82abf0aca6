// Package control is the one writer. It takes the keys of changed objects from a
// source, compiles what they touch, compares, publishes the next snapshot with
// one atomic store, and appends the transition to the journal.
package control
