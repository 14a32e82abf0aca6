package views

import "github.com/edsight/edsight/core/model"

// Scope is what a proxy may see.
type Scope struct {
	// Sidecar is the one that applies, nil if there is none.
	Sidecar *model.ObjectKey `json:"sidecar,omitempty"`
	// Imports counts the services in scope, in all and by their namespace; Excluded
	// the definitions that are not.
	Imports    int              `json:"imports"`
	Namespaces []NamespaceCount `json:"namespaces"`
	Excluded   int              `json:"excluded"`
}

// NamespaceCount is the number of services of a namespace.
type NamespaceCount struct {
	Namespace string `json:"namespace"`
	Services  int    `json:"services"`
}

// Excluded is a definition that a proxy does not use.
type Excluded struct {
	Service ServiceRef      `json:"service"`
	Object  model.ObjectKey `json:"object"`
	Reason  string          `json:"reason"`
	Why     string          `json:"why"`
	// By is what is used in its place, nil if that is not the reason.
	By *model.ObjectKey `json:"by,omitempty"`
}

// Users are proxies that do the same with a host: use one definition of it for
// the same reason, or none.
type Users struct {
	// Who says in words which proxies these are.
	Who     []string `json:"who"`
	More    int      `json:"more,omitempty"`
	Proxies int      `json:"proxies"`
	// Uses is the object whose definition they use, nil if they use none; Here tells
	// that it is of this page's namespace.
	Uses   *model.ObjectKey `json:"uses,omitempty"`
	Here   bool             `json:"here"`
	Reason string           `json:"reason"`
	Why    string           `json:"why"`
	// Via is the Sidecar or VirtualService that brings it in, nil if everything is.
	Via *model.ObjectKey `json:"via,omitempty"`
}
