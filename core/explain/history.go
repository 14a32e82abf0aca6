package explain

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/state"
)

// remember looks up what the journal keeps.
func (e *Explainer) remember() []*journal.Transition {
	if e.opts.Journal == nil {
		return nil
	}
	return e.opts.Journal.Since(1, math.MaxInt).Transitions
}

// past iterates over the transitions from the newest that the snapshot has seen
// to the oldest that the journal keeps.
func (x *inquiry) past(yield func(*journal.Transition) bool) {
	for _, t := range slices.Backward(x.remembered()) {
		if t.Version <= x.snap.Version && !yield(t) {
			return
		}
	}
}

// reach says how far back memory goes, in words; "" where it holds no more than how all
// was found.
func (x *inquiry) reach() string {
	n, since := 0, time.Time{}
	for t := range x.past {
		n++
		since = t.Times.Seen
	}
	if n < 2 {
		return ""
	}
	return "since " + clock(since) + ", as far back as memory goes (" + strconv.Itoa(n) + verb(n, " transition", " transitions") + ")"
}

// deleted tells whether the object was deleted within memory, and when.
func (x *inquiry) deleted(key model.ObjectKey) (time.Time, bool) {
	for t := range x.past {
		for i := range t.Causes {
			if t.Causes[i].Key == key {
				return t.Causes[i].Seen, t.Causes[i].Op == source.OpDelete
			}
		}
	}
	return time.Time{}, false
}

// went says when the proxy that is asked about went, in words; "" if it is not known.
func (x *inquiry) went() string {
	for t := range x.past {
		for _, c := range t.Diff.Proxies {
			if c.ID == x.q.Proxy && c.Next == nil && x.allowed(c.Prev.Namespace) {
				return "; it went at " + clock(t.Times.Seen)
			}
		}
	}
	return ""
}

// changes iterates over what changed of services, the newest first.
func (x *inquiry) changes(yield func(*journal.Transition, *state.ServiceChange) bool) {
	for t := range x.past {
		for i := range t.Diff.Services {
			if !yield(t, &t.Diff.Services[i]) {
				return
			}
		}
	}
}

// former is the last candidate with the address that the service had, with the
// transition that took it away.
func (x *inquiry) former(key model.ServiceKey) (*model.Candidate, *journal.Transition) {
	for t, svc := range x.changes {
		if svc.Key != key {
			continue
		}
		for _, c := range svc.Endpoints {
			if c.Before != nil && x.asked(c.Before) {
				return c.Before, t
			}
		}
	}
	return nil, nil
}

// unpushed says so if the candidate is a newcomer that is not ready and was not
// pushed.
func (x *inquiry) unpushed() string {
	key := x.imp.Definition.Key
	for t, svc := range x.changes {
		if svc.Key != key {
			continue
		}
		for _, c := range svc.Endpoints {
			if c.After == nil || c.After.Address != x.candidate.Address || c.After.PortName != x.candidate.PortName {
				continue // another one
			}
			if t.Push.Scope.Type == state.PushNone && c.Before == nil {
				return "; a newcomer that is not ready causes no push"
			}
			return ""
		}
	}
	return ""
}

// formerDefinition is the object which defined the host last, when nothing does now: it
// was deleted, or is one of other hosts.
func (x *inquiry) formerDefinition() (model.ObjectKey, bool) {
	for _, c := range x.changes {
		if c.Key.Hostname == x.q.Host && c.Prev.Definition() != nil && c.Next.Definition() == nil && x.allowed(c.Key.Namespace) {
			return c.Prev.Definition().Object, true
		}
	}
	return model.ObjectKey{}, false
}

// since is when what was found became so: when the service last changed in what it is
// about, or an object of the configuration that it names. It was so at least since then
// if that is the first that is remembered.
func (x *inquiry) since(f finding) (at time.Time, atLeast bool) {
	for t := range x.past {
		if at = t.Times.Seen; t.Version > 1 && x.turned(t.Diff, f) {
			return at, false
		}
	}
	return at, true
}

// turned tells whether a step may have made the finding what it is.
func (x *inquiry) turned(d *state.Diff, f finding) bool {
	names := func(key model.ObjectKey) bool {
		return key == f.object || slices.ContainsFunc(f.evidence, func(e Evidence) bool { return e.Object == key })
	}
	if d.Mesh && names(x.meshObject()) || d.Networks && f.step == StepNetwork {
		return true
	}
	for _, key := range d.Configs {
		if names(key) || f.step == StepScope && x.isSidecar(key) {
			return true
		}
	}
	byLabels := names(x.proxy.Pod) || f.cause == SidecarScope
	if slices.ContainsFunc(d.Proxies, func(c state.ProxyChange) bool { return x.moved(c, f.step) || byLabels && x.relabelled(c) }) {
		return true
	}
	if x.imp == nil {
		return slices.ContainsFunc(d.Services, func(c state.ServiceChange) bool {
			return c.Key.Hostname == x.q.Host && c.Definition && x.allowed(c.Key.Namespace)
		})
	}
	i := slices.IndexFunc(d.Services, func(c state.ServiceChange) bool { return c.Key == x.imp.Definition.Key })
	return i >= 0 && (d.Services[i].Definition || slices.ContainsFunc(d.Services[i].Endpoints, func(e state.EndpointChange) bool {
		return x.turnedBy(e, f.step)
	}))
}

// moved tells whether a change is one of the proxy in what a step looks at, or its coming.
func (x *inquiry) moved(c state.ProxyChange, step StepName) bool {
	if c.ID != x.proxy.ID {
		return false
	}
	was, is := c.Prev, c.Next
	came := was == nil || is == nil
	switch step { //nolint:exhaustive // the others look at its labels, if at the proxy
	case StepPlace:
		return came || was.Node != is.Node || was.Cluster != is.Cluster || !slices.Equal(was.NetworkView, is.NetworkView)
	case StepNetwork:
		return came || was.Network != is.Network || !slices.Equal(was.IPs, is.IPs)
	case StepLocality:
		return came || was.Locality != is.Locality
	}
	return false
}

// relabelled tells whether a change is one of the proxy's labels, by which it is selected
// and placed, or its coming.
func (x *inquiry) relabelled(c state.ProxyChange) bool {
	return c.ID == x.proxy.ID && (c.Prev == nil || c.Next == nil || !maps.Equal(c.Prev.Labels, c.Next.Labels))
}

// turnedBy tells whether the endpoint that the finding is about came, went, or changed in
// what the step looks at.
func (x *inquiry) turnedBy(c state.EndpointChange, step StepName) bool {
	about := func(c *model.Candidate) bool {
		return c != nil && x.asked(c) && (x.candidate == nil || c.Address == x.candidate.Address)
	}
	switch {
	case !about(c.Before) && !about(c.After):
		return false
	case c.Before == nil || c.After == nil || c.Before.Endpoint == nil || c.After.Endpoint == nil:
		return true
	}
	before, after := c.Before.Endpoint, c.After.Endpoint
	was, is := before.Workload, after.Workload
	switch step { //nolint:exhaustive // the others look at no endpoint that is admitted
	case StepPortName:
		return before.PortName != after.PortName
	case StepLabels:
		for k := range x.cluster.View.Subset.All() {
			if was.Labels[k] != is.Labels[k] {
				return true
			}
		}
	case StepPlace:
		return was.Node != is.Node || was.Cluster != is.Cluster || was.Network != is.Network || before.SameClusterOnly != after.SameClusterOnly
	case StepHealth:
		return before.Health != after.Health || was.Draining != is.Draining
	case StepNetwork:
		return was.Network != is.Network || was.TLSMode != is.TLSMode
	case StepLocality:
		return was.Locality != is.Locality
	}
	return false
}
