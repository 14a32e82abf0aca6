package server

import (
	"context"
	"net/http"
	"slices"
)

// role is what an identity may do. The zero value may do nothing.
type role uint8

const (
	roleNone role = iota
	// roleViewer reads what belongs to its namespaces.
	roleViewer
	// roleReader reads everything and changes nothing.
	roleReader
	// roleAdmin may do everything.
	roleAdmin
)

func (r role) String() string {
	switch r {
	case roleNone:
		return "none"
	case roleViewer:
		return "viewer"
	case roleReader:
		return "reader"
	case roleAdmin:
		return "admin"
	}
	return "invalid"
}

// identity is who calls. The zero value is the anonymous caller.
type identity struct {
	name       string
	role       role
	namespaces []string // of a viewer
	// session is set if the identity comes from a cookie.
	session *session
}

// action is what a route does.
type action uint8

const (
	actionRead action = iota
	actionWrite
)

// authorize decides for every door: pages, JSON, websocket frames and exports.
// A namespace of "" stands for what belongs to no single namespace.
func authorize(id identity, a action, namespace string) bool {
	switch id.role {
	case roleAdmin:
		return true
	case roleReader:
		return a == actionRead
	case roleViewer:
		return a == actionRead && namespace != "" && slices.Contains(id.namespaces, namespace)
	case roleNone:
		return false
	}
	return false
}

func (rt *route) action() action {
	if rt.mutates {
		return actionWrite
	}
	return actionRead
}

type contextKey uint8

const (
	keyRecord contextKey = iota
	keyTwin
)

// record is what is noted of a request while it passes the checks.
type record struct {
	identity identity
	pattern  string
}

func recordOf(r *http.Request) *record {
	if rec, ok := r.Context().Value(keyRecord).(*record); ok {
		return rec
	}
	return &record{}
}

func withRecord(r *http.Request, rec *record) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), keyRecord, rec))
}

// identityOf returns who calls, as the checks have found out.
func identityOf(r *http.Request) identity { return recordOf(r).identity }
