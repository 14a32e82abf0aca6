// Package cds says which clusters a proxy has: names, types, and from which
// service, port and subset each comes; and which filters ask an external
// authorization service for it.
//
// Build is pure: a snapshot and a proxy in, clusters out, sorted by name. An EDS
// cluster carries the View for which package eds builds its assignment; Views
// hold what matters to the service only, so that proxies which are to get the
// same bytes have equal ones.
package cds
