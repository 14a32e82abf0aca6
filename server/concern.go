package server

import (
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/state"
)

// concerns tells whether the transition may change what the proxy gets.
func concerns(t *journal.Transition, proxy string) bool {
	if t.Diff == nil {
		return false
	}
	for _, c := range t.Diff.Proxies {
		if c.ID == proxy {
			return true
		}
	}
	return t.Push.Scope.Type == state.PushFull || len(t.Diff.Services) > 0
}
