package server

import (
	"github.com/edsight/edsight/core/control"
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/state"
)

// Core is what the server reads. It is never written to.
type Core interface {
	Snapshot() *state.Snapshot
	Journal() *journal.Journal
	Status() control.Status
}
