// Package files is a Source of the objects in a manifest file, or in all .yaml,
// .yml and .json files below a directory, read again when they change.
//
// Objects belong to the cluster "Kubernetes", or to <id> if they lie below
// clusters/<id> in the directory. Files are taken in the order of their paths:
// of an object that is in several files the last counts. An object disappears
// with its document; while its document is broken, or its file cannot be read,
// its last good version stays, and Status says what is wrong and where. Names
// that begin with a dot are not looked at.
package files
