// Package chaos disturbs a mesh under its clients, for tests: in comes a server of
// ADS and a way to write objects, out comes a failure unless in the end every
// client has what a core has that starts anew on the same objects.
//
// The clients behave badly: they end their streams, refuse what they get, and stop
// to read, at random, in both protocols. Where the objects are kept is the
// caller's, and so is what else is done to that place meanwhile.
package chaos
