package views

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/edsight/edsight/core/model"
)

// Config is the Istio objects, the mesh configuration, and what is wrong.
type Config struct {
	State    State       `json:"state"`
	Problems []Problem   `json:"problems"`
	Kinds    []KindCount `json:"kinds"`
	Kind     string      `json:"kind,omitempty"`
	Query    string      `json:"query,omitempty"`
	Objects  []ConfigRow `json:"objects"`
	Page     Page        `json:"page"`
	// Mesh and Networks are indented JSON.
	Mesh     json.RawMessage `json:"mesh"`
	Networks json.RawMessage `json:"meshNetworks"`
}

// Problem is something wrong with an input, or something in it without effect.
type Problem struct {
	Object  model.ObjectKey `json:"object,omitzero"`
	Where   string          `json:"where,omitempty"`
	Field   string          `json:"field,omitempty"`
	Message string          `json:"message"`
	// Remedy says what would cure it, "" if that is plain.
	Remedy string `json:"remedy,omitempty"`
	// Since is zero if it has no beginning: it follows from how things are now.
	Since time.Time `json:"since,omitzero"`
	// Until is when it was mended, zero while it lasts.
	Until time.Time `json:"until,omitzero"`
}

// KindCount is the number of objects of a kind.
type KindCount struct {
	Kind  model.Kind `json:"kind"`
	Count int        `json:"count"`
}

// ConfigRow is one Istio object in the list.
type ConfigRow struct {
	Key      model.ObjectKey `json:"key"`
	Created  time.Time       `json:"created,omitzero"`
	Version  string          `json:"resourceVersion,omitempty"`
	Problems int             `json:"problems,omitempty"`
}

// Object is one object that Edsight reads.
type Object struct {
	State    State           `json:"state"`
	Key      model.ObjectKey `json:"key"`
	Problems []Problem       `json:"problems,omitempty"`
	// Findings are what is wrong with it as a slice, or with the slices of it as a
	// Service.
	Findings []Finding `json:"findings,omitempty"`
	// Links lead to what became of it.
	Links []Link `json:"links,omitempty"`
	// Missing says why there is no object, "" if there is.
	Missing string `json:"missing,omitempty"`
	// Text is the object as YAML. If it is a slice of which it shows some endpoints
	// only, Endpoints is how many there are.
	Text      string          `json:"-"`
	Endpoints int             `json:"-"`
	Object    json.RawMessage `json:"object,omitempty"`
	History   []Row           `json:"history"`
}

// hasPlaces tells whether one of the objects with a problem is at a place of its own.
func hasPlaces(list []Problem) bool {
	return slices.ContainsFunc(list, func(p Problem) bool { return p.Where != "" && p.Object.Name != "" })
}

// hasTimes tells whether it is known of a problem when it began.
func hasTimes(list []Problem) bool {
	return slices.ContainsFunc(list, func(p Problem) bool { return !p.Since.IsZero() })
}

// placeOf is where the object with a problem is, beside its name.
func placeOf(p Problem) string {
	if p.Object.Name == "" {
		return ""
	}
	return p.Where
}
