// Package e2e holds the tests of the whole: a real API server and real
// EndpointSlices on one side, what a person or program gets from Edsight on the
// other.
package e2e
