package server

import (
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
)

// Core is what the server reads. It is never written to.
type Core interface {
	Snapshot() *state.Snapshot
	Journal() *journal.Journal
	Status() Status
}

// Status says how far the core is.
type Status struct {
	Ready   bool
	Waiting int
	Source  source.Status
}
