package e2e_test

import (
	"time"

	"github.com/edsight/edsight/core/source"
)

// patience is how long a test waits for what must come.
const patience = 60 * time.Second

// synced is a sink that only says when all was told.
type synced struct{ done chan struct{} }

func (synced) Dirty(...source.Cause) {}

func (s synced) Synced() { close(s.done) }
