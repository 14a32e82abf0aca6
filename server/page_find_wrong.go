package server

import (
	"slices"
	"strings"

	"github.com/edsight/edsight/core/audit"
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// findings finds what is wrong with slices by what it is called, and the pages of
// what waits or is held back.
func (f *finding) findings(s *Server, snap *state.Snapshot) {
	text := squashed(f.find.text)
	if len(text) < minReason || f.find.address != "" || f.find.isLabel || !f.may("") {
		return
	}
	pages := views.Hits{Kind: "pages"}
	for _, p := range []views.Link{
		{Text: "Waiting room: candidates that wait for their Pod or Service", Href: "/waiting"},
		{Text: "Services with candidates held back", Href: "/services?only=held"},
		{Text: "What is wrong now: services in trouble, slices, configuration", Href: "/wrong"},
	} {
		if strings.Contains(squashed(p.Text), text) {
			f.add(&pages, p)
		}
	}
	f.keep(pages)
	if !slices.ContainsFunc(audit.Kinds(), func(k audit.Kind) bool { return isKind(k, text) }) {
		return
	}
	h := views.Hits{Kind: "what is wrong with slices"}
	for _, x := range s.findings(snap) {
		if isKind(x.Kind, text) {
			f.add(&h, views.Link{Text: x.Kind.Text() + " · " + x.Object.String(), Href: "/slices?kind=" + string(x.Kind)})
		}
	}
	f.keep(h)
}

func isKind(k audit.Kind, text string) bool {
	return strings.Contains(squashed(string(k)+" "+k.Text()), text)
}

// gone says when that went of which nothing is called so any more, "" if it is not
// remembered.
func (s *Server) gone(f *finding) (string, []views.Link) {
	if f.find.empty() {
		return "", nil
	}
	e := s.absent("“"+f.find.text+"” is not there any more", func(t *journal.Transition) bool {
		return slices.ContainsFunc(t.Diff.Proxies, func(c state.ProxyChange) bool {
			return c.Next == nil && f.may(c.Prev.Namespace) && (f.is(c.ID) || f.isObject(&c.Prev.Pod))
		}) || slices.ContainsFunc(t.Diff.Services, func(c state.ServiceChange) bool {
			return c.Next == nil && f.may(c.Key.Namespace) && (f.is(string(c.Key.Hostname)) || f.is(c.Key.String()))
		}) || slices.ContainsFunc(t.Causes, func(c journal.Cause) bool {
			return c.Op == source.OpDelete && f.may(c.Key.Namespace) && f.isObject(&c.Key)
		})
	})
	if len(e.Next) == 0 {
		return "", nil
	}
	return e.Message + ".", e.Next
}
