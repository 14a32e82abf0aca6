package server

import (
	"strings"
	"testing"
	"time"

	"github.com/edsight/edsight/core/source"
)

// TestExportedIsNotLive shows a state that was exported as one of then: nothing is
// live, and ages are those of that moment.
func TestExportedIsNotLive(t *testing.T) {
	core := newFakeCore()
	at := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	core.status.Source.Clusters = append(core.status.Source.Clusters, source.ClusterStatus{ID: "east", Connected: true, LastEvent: at.Add(-3 * time.Minute)})
	v := &visitor{newTestServer(t, core, Options{Token: testToken, Exported: at}), t, nil}
	page := v.html("/")
	if got := v.part(page, "ws-state"); !strings.Contains(got, "exported") || strings.Contains(page, "data-live") || strings.Contains(page, "data-feed>") || strings.Contains(page, "data-pause") {
		t.Errorf("the live page is live: %.300s", got)
	}
	page = v.html("/clusters")
	if i := strings.Index(page, "was connected"); i < 0 || !strings.Contains(page[i:], "3 min ago") {
		t.Error("the clusters page speaks of now")
	}
	v = &visitor{newTestServer(t, core, Options{Token: testToken}), t, nil}
	if page := v.html("/"); !strings.Contains(page, "data-live") || !strings.Contains(page, "data-pause") {
		t.Error("a state that changes is not live")
	}
}

// TestStationOfCandidates counts those of the waiting room.
func TestStationOfCandidates(t *testing.T) {
	v := newVisitor(t)
	if got := v.part(v.html("/"), "station-candidates"); !strings.Contains(got, "1 waiting") {
		t.Errorf("the station says %.300s", got)
	}
	if got := v.part(v.html("/waiting"), "waiting-count"); !strings.Contains(got, "1 candidate waits") {
		t.Errorf("the waiting room says %.300s", got)
	}
}
