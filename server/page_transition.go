package server

import (
	"net/http"
	"strconv"

	"github.com/a-h/templ"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// What the page of a transition lists; the rest is counted.
const (
	transitionCauses    = 100
	transitionServices  = 50
	transitionEndpoints = 100 // per service
	transitionProxies   = 50
)

func (s *Server) transitionPage(r *http.Request) (any, templ.Component, error) {
	seq, err := strconv.ParseUint(param(r, "seq"), 10, 64)
	if err != nil {
		return nil, nil, notFound("a transition has a number, not %q", param(r, "seq"))
	}
	snap, j := s.core.Snapshot(), s.core.Journal()
	t := j.Get(seq)
	if t == nil {
		return nil, nil, notFound("transition %d is not in memory: the newest is %d, and old ones are dropped", seq, j.Last())
	}
	c := s.chrome(r, snap, views.SectionLive, "Transition "+views.Number(seq))
	m := s.newTransition(t, s.connected(r))
	m.State = c.State
	if j.Get(seq-1) != nil {
		m.Prev = seq - 1
	}
	if j.Get(seq+1) != nil {
		m.Next = seq + 1
	}
	return m, views.TransitionPage(c, m), nil
}

func (s *Server) newTransition(t *journal.Transition, streams connected) views.Transition {
	m := views.Transition{
		Row: s.newRow(t), Push: newPushView(t.Push),
		Services: []views.ServiceChange{}, Proxies: []views.ProxyRow{},
		MoreCauses:   max(len(t.Causes)-transitionCauses, 0),
		MoreServices: max(len(t.Diff.Services)-transitionServices, 0),
	}
	for _, c := range t.Causes[:min(len(t.Causes), transitionCauses)] {
		m.Cause = append(m.Cause, views.Cause{
			Object: c.Key, Op: string(c.Op), ResourceVersion: c.ResourceVersion,
			ResourceVersions: c.ResourceVersions, Actor: c.Actor, Seen: c.Seen, Merged: max(c.Merged, 1),
		})
	}
	for i := range t.Diff.Services[:min(len(t.Diff.Services), transitionServices)] {
		m.Services = append(m.Services, newServiceChangeView(&t.Diff.Services[i]))
	}
	m.Steps = steps(t.Times, m.Row.Delivery)
	m.Others = otherChanges(t.Diff)
	var proxies []*model.Proxy
	if t.Push.Scope.Type == state.PushNone {
		proxies = proxiesThere(t)
		m.ProxyCount = len(proxies)
	} else {
		proxies = s.pages.audience.concerned(t.Next, t.Push.Scope, transitionProxies)
		m.ProxyCount = m.Row.Proxies
	}
	for _, p := range proxies[:min(len(proxies), transitionProxies)] {
		m.Proxies = append(m.Proxies, streams.row(p))
	}
	m.ProxiesNote = proxiesNote(t, m.ProxyCount)
	return m
}

// steps are the moments of a transition; the last two have none if it went to no
// connected proxy.
func steps(t journal.Times, d *views.Delivery) []views.Step {
	since := func(s views.Step) views.Step {
		s.SinceMS = millis(s.Time.Sub(begin(t)))
		return s
	}
	list := []views.Step{
		since(views.Step{Name: "seen", Time: begin(t)}),
		since(views.Step{Name: "taken up", Time: t.Drained}),
		since(views.Step{Name: "compiled", Time: t.Compiled}),
		since(views.Step{Name: "published", Time: t.Published}),
	}
	if d == nil {
		return append(list, views.Step{Name: "sent", Note: "modelled: it concerned no connected proxy"}, views.Step{Name: "acked", Note: "modelled"})
	}
	sent, done := views.Step{Name: "sent", Note: "to nobody"}, views.Step{Name: "answered", Note: views.Number(d.Waiting) + " waiting"}
	if !d.FirstSent.IsZero() {
		sent = since(views.Step{Name: "first sent", Time: d.FirstSent})
	}
	if !d.Done.IsZero() {
		done = since(views.Step{Name: "all answered", Time: d.Done})
	}
	return append(list, sent, done)
}

func newPushView(p journal.Push) views.Push {
	m := views.Push{Type: p.Scope.Type.String(), Because: p.Because, Triggers: p.Triggers}
	for _, k := range p.Scope.Services[:min(len(p.Scope.Services), transitionServices)] {
		m.Services = append(m.Services, views.Ref(k))
	}
	return m
}

// proxiesThere are the proxies whose own workload changed.
func proxiesThere(t *journal.Transition) []*model.Proxy {
	var list []*model.Proxy
	for _, id := range t.Push.Proxies {
		if p := t.Next.Proxy(id); p != nil {
			list = append(list, p)
		}
	}
	return list
}

func proxiesNote(t *journal.Transition, count int) string {
	switch {
	case t.Push.Scope.Type == state.PushNone && count > 0:
		return "Nothing is pushed to others (" + t.Push.Because + "); what these get is looked at again, as their own workload changed."
	case t.Push.Scope.Type == state.PushNone:
		return "Nothing was pushed: " + t.Push.Because + "."
	case t.Next.ProxyCount() == 0:
		return "There is no proxy in the mesh."
	case count == 0:
		return "No proxy has one of these services in its scope."
	case t.Push.Scope.Type == state.PushFull:
		return "A full push goes to every proxy."
	default:
		return "These have the service in their scope."
	}
}

func newServiceChangeView(c *state.ServiceChange) views.ServiceChange {
	m := views.ServiceChange{Service: views.Ref(c.Key), Op: "changed", More: max(len(c.Endpoints)-transitionEndpoints, 0)}
	switch {
	case c.Prev == nil:
		m.Op = "came"
	case c.Next == nil:
		m.Op = "went"
	}
	if c.Definition && c.Prev.Definition() != nil && c.Next.Definition() != nil {
		m.Fields = fieldChanges(c.Prev.Definition(), c.Next.Definition())
	}
	for _, e := range c.Endpoints[:min(len(c.Endpoints), transitionEndpoints)] {
		m.Endpoints = append(m.Endpoints, newEndpointChange(e))
	}
	return m
}

func newEndpointChange(e state.EndpointChange) views.EndpointChange {
	one := e.After
	if one == nil {
		one = e.Before
	}
	m := views.EndpointChange{
		Kind: string(e.Kind()), Address: hostPort(one.Address, one.Port), PortName: one.PortName,
		Shard: e.Shard.String(), Target: one.Target, Reason: one.Reason,
	}
	if one.Source != nil {
		m.Source = *one.Source
	}
	m.Before, m.After = endpointStates(e)
	if one.Endpoint == nil {
		m.ReasonMsg = one.Reason.Text()
	}
	if e.After == nil && one.Endpoint == nil {
		m.Kind, m.After = "gone", "not listed any more"
	}
	return m
}

// otherChanges are the changes that belong to no service.
func otherChanges(d *state.Diff) []views.OtherChange {
	var list []views.OtherChange
	more := 0
	add := func(text string, object model.ObjectKey) {
		if len(list) == transitionCauses {
			more++
			return
		}
		list = append(list, views.OtherChange{Text: text, Object: object})
	}
	if d.Mesh {
		add("the mesh configuration changed", model.ObjectKey{})
	}
	if d.Networks {
		add("the networks or their gateways changed", model.ObjectKey{})
	}
	for _, k := range d.Configs {
		add("an Istio object changed:", k)
	}
	for _, k := range d.Strays {
		add("a slice belongs to no service:", k)
	}
	for _, p := range d.Proxies {
		text := "the properties of a proxy changed:"
		switch {
		case p.Prev == nil:
			text = "a proxy came:"
		case p.Next == nil:
			text = "a proxy went:"
		}
		add(text, proxyOf(p).Pod)
	}
	if more > 0 {
		list = append(list, views.OtherChange{Text: "and " + views.Number(more) + " more"})
	}
	return list
}
