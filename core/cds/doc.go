// Package cds says which clusters a proxy has: names, types, and from which
// service, port and subset each comes. Build is pure: a snapshot and a proxy in,
// clusters out, sorted by name.
package cds
