package server

import (
	"strings"
	"unicode"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// minReason is how much of a reason's name one has to type.
const minReason = 4

// squashed is a text without all but letters and digits, so that "notReady",
// "not-ready" and "not ready" are one.
func squashed(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// isCalled tells whether somebody may mean the reason by the text, which is
// squashed.
func isCalled(r model.Reason, text string) bool {
	names := squashed(r.String())
	if r == model.ReasonUnhealthy {
		names += " notready unready"
	}
	return strings.Contains(names, text)
}

// reasons finds the services whose candidates have a reason of that name. Those
// reasons of which nothing can be said without a proxy are only explained.
func (f *finding) reasons(snap *state.Snapshot) {
	text := squashed(f.find.text)
	if len(text) < minReason || f.find.address != "" || f.find.isLabel {
		return
	}
	other := views.Hits{Kind: "reasons that no candidate has by itself"}
	for _, r := range model.Reasons() {
		if !isCalled(r, text) {
			continue // another
		}
		h := views.Hits{Kind: r.String() + ": " + r.Text()}
		for svc := range snap.Services() {
			if n := withReason(svc, r); n > 0 && f.may(svc.Key.Namespace) {
				f.add(&h, views.Link{Text: svc.Key.String() + " · " + views.Count(n, "candidate", "candidates"), Href: views.ServiceURL(svc.Key) + "?only=unready#endpoints"})
			}
		}
		if h.Total == 0 {
			f.add(&other, views.Link{Text: r.String() + ": " + r.Text() + "; ask about a proxy", Href: "/explain"})
		}
		f.keep(h)
	}
	f.keep(other)
	if text == "export" || text == "exportto" {
		f.exported(snap)
	}
}

// withReason counts the candidates that have a reason for all proxies.
func withReason(svc *state.ServiceState, r model.Reason) int {
	n := 0
	for _, c := range svc.Candidates() {
		switch {
		case c.Reason == r,
			r == model.ReasonUnhealthy && c.Endpoint != nil && c.Endpoint.Health == model.UnHealthy,
			r == model.ReasonTerminating && c.Endpoint != nil && c.Endpoint.Health == model.Terminating,
			r == model.ReasonDraining && c.Endpoint != nil && c.Endpoint.Health == model.Draining:
			n++
		}
	}
	return n
}

// exported finds the services that are not exported to everybody.
func (f *finding) exported(snap *state.Snapshot) {
	h := views.Hits{Kind: "services with exportTo"}
	for svc := range snap.Services() {
		if def := svc.Definition(); def != nil && def.ExportTo != nil && f.may(svc.Key.Namespace) {
			f.add(&h, views.Link{Text: svc.Key.String() + " · " + exportText(def.ExportTo), Href: views.ServiceURL(svc.Key)})
		}
	}
	f.keep(h)
}
