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
	// Neither is a hit: they have no number.
	unused := views.Hits{Kind: "reasons that no candidate has now"}
	perProxy := views.Hits{Kind: "reasons that depend on the proxy"}
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
		f.effects(&h, snap, r)
		name := r.String() + ": " + r.Text()
		switch {
		case h.Total > 0:
			f.hits = append(f.hits, h)
		case r.Stage() == model.StageAdmission || hasHealth(r):
			unused.Links = append(unused.Links, views.Link{Text: name, Href: "/services?only=trouble"})
		default:
			perProxy.Links = append(perProxy.Links, views.Link{Text: name + "; ask about a proxy", Href: "/explain"})
		}
	}
	for _, h := range []views.Hits{unused, perProxy} {
		if len(h.Links) > 0 {
			f.hits = append(f.hits, h)
		}
	}
	if text == "export" || text == "exportto" {
		f.exported(snap)
	}
}

// effects adds the services of which a problem of the configuration has the reason as
// its effect.
func (f *finding) effects(h *views.Hits, snap *state.Snapshot, r model.Reason) {
	if r != model.ReasonSubsetLabels && r != model.ReasonResolutionNone {
		return
	}
	config := configTrouble(snap)
	for svc := range snap.Services() {
		for _, p := range config[svc.Key.Hostname] {
			subsets, none := strings.HasPrefix(p.Field, "spec.subsets"), p.Object.Kind == model.KindServiceEntry && strings.Contains(p.Message, "NONE")
			if f.may(svc.Key.Namespace) && f.may(p.Object.Namespace) && (r == model.ReasonSubsetLabels && subsets || r == model.ReasonResolutionNone && none) {
				f.add(h, views.Link{Text: svc.Key.String() + " · " + p.Message, Href: views.ServiceURL(svc.Key)})
			}
		}
	}
}

// hasHealth tells whether the reason is one that the health of an endpoint gives.
func hasHealth(r model.Reason) bool {
	return r == model.ReasonUnhealthy || r == model.ReasonTerminating || r == model.ReasonDraining
}

// withReason counts the candidates that have a reason for all proxies.
func withReason(svc *state.ServiceState, r model.Reason) int {
	n, def := 0, svc.Definition()
	for _, c := range svc.Candidates() {
		switch {
		case c.Reason == r,
			r == model.ReasonPortNameMismatch && c.Endpoint != nil && def != nil && !hasPortName(def, c.PortName),
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
