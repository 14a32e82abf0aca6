package server

import (
	"testing"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// TestEndpointChangeThatWaited says of an address that waited and is not listed any
// more that it went.
func TestEndpointChangeThatWaited(t *testing.T) {
	waits := &model.Candidate{Address: "10.1.0.3", Port: 8080, Reason: model.ReasonPodNotSeen}
	for kind, c := range map[string]state.EndpointChange{
		"gone":    {Before: waits},
		"waiting": {After: waits},
	} {
		m := newEndpointChange(c)
		if m.Kind != kind || (kind == "gone") != (m.After == "not listed any more") || (m.Before != "") != (kind == "gone") {
			t.Errorf("%s: %+v", kind, m)
		}
	}
}
