package server

import (
	"time"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// What a frame or list names of one transition; the counts beside tell of all.
// A transition by itself is given whole.
const (
	maxCauses    = 1000
	maxServices  = 100
	maxEndpoints = 100 // over all services of the transition
)

// transitionJSON is a transition as programs get it.
type transitionJSON struct {
	Seq     uint64    `json:"seq"`
	Version uint64    `json:"version"`
	Time    time.Time `json:"time"`

	CauseCount   int                 `json:"causeCount"`
	Causes       []journal.Cause     `json:"causes"`
	Push         pushJSON            `json:"push"`
	ServiceCount int                 `json:"serviceCount"`
	Services     []serviceChangeJSON `json:"services"`
	ProxyCount   int                 `json:"proxyCount"`
	Proxies      []proxyChangeJSON   `json:"proxies,omitempty"`
	Configs      []model.ObjectKey   `json:"configs,omitempty"`
	Strays       []model.ObjectKey   `json:"strays,omitempty"`
	Mesh         bool                `json:"mesh,omitempty"`
	Networks     bool                `json:"networks,omitempty"`
	Times        timesJSON           `json:"times"`
	// Truncated tells that lists are shorter than their counts say.
	Truncated bool `json:"truncated,omitempty"`
}

type pushJSON struct {
	Type     state.PushType `json:"type"`
	Services []keyJSON      `json:"services,omitempty"`
	Triggers []string       `json:"triggers,omitempty"`
	Because  string         `json:"because"`
}

type keyJSON struct {
	Hostname  model.Hostname `json:"hostname"`
	Namespace string         `json:"namespace"`
}

type serviceChangeJSON struct {
	keyJSON
	// Change is added, removed or changed.
	Change     state.ChangeKind `json:"change"`
	Definition bool             `json:"definition,omitempty"`
	Added      int              `json:"added"`
	Removed    int              `json:"removed"`
	Changed    int              `json:"changed"`
	// Waiting counts candidates that came, went or changed outside the shard.
	Waiting   int                  `json:"waiting"`
	Endpoints []endpointChangeJSON `json:"endpoints,omitempty"`
}

type endpointChangeJSON struct {
	Change state.ChangeKind `json:"change"`
	Shard  string           `json:"shard"`
	Before *candidateJSON   `json:"before,omitempty"`
	After  *candidateJSON   `json:"after,omitempty"`
}

type proxyChangeJSON struct {
	ID     string           `json:"id"`
	Change state.ChangeKind `json:"change"`
}

type timesJSON struct {
	Seen      time.Time `json:"seen"`
	Drained   time.Time `json:"drained"`
	Compiled  time.Time `json:"compiled"`
	Published time.Time `json:"published"`
}

// newTransition gives a transition, shortened to the limits unless whole.
func newTransition(t *journal.Transition, whole bool) *transitionJSON {
	d := t.Diff
	j := &transitionJSON{
		Seq: t.Seq, Version: t.Version, Time: t.Times.Published,
		CauseCount: len(t.Causes), Push: newPush(t.Push),
		ServiceCount: len(d.Services), Services: []serviceChangeJSON{}, ProxyCount: len(d.Proxies),
		Mesh: d.Mesh, Networks: d.Networks, Times: timesJSON(t.Times),
	}
	b := budget{whole: whole, endpoints: maxEndpoints}
	j.Causes = append([]journal.Cause{}, cut(&b, t.Causes, maxCauses)...)
	j.Configs, j.Strays = cut(&b, d.Configs, maxCauses), cut(&b, d.Strays, maxCauses)
	j.Push.Services = cut(&b, j.Push.Services, maxServices)
	for _, c := range cut(&b, d.Services, maxServices) {
		j.Services = append(j.Services, newServiceChange(c, &b))
	}
	for _, c := range cut(&b, d.Proxies, maxServices) {
		j.Proxies = append(j.Proxies, proxyChangeJSON{ID: c.ID, Change: presence(c.Prev != nil, c.Next != nil)})
	}
	j.Truncated = b.spent
	return j
}

// budget is how much of a transition may still be named.
type budget struct {
	whole     bool
	endpoints int
	spent     bool // something was left out
}

// cut returns the first of the elements, as many as may be named.
func cut[T any](b *budget, all []T, limit int) []T {
	if b.whole || len(all) <= limit {
		return all
	}
	b.spent = true
	return all[:limit]
}

func newPush(p journal.Push) pushJSON {
	j := pushJSON{Type: p.Scope.Type, Triggers: p.Triggers, Because: p.Because}
	for _, k := range p.Scope.Services {
		j.Services = append(j.Services, keyJSON(k))
	}
	return j
}

func newServiceChange(c state.ServiceChange, b *budget) serviceChangeJSON {
	j := serviceChangeJSON{keyJSON: keyJSON(c.Key), Change: presence(c.Prev != nil, c.Next != nil), Definition: c.Definition}
	for _, e := range c.Endpoints {
		j.count(e.Kind())
	}
	named := cut(b, c.Endpoints, b.endpoints)
	b.endpoints -= len(named)
	for _, e := range named {
		j.Endpoints = append(j.Endpoints, endpointChangeJSON{
			Change: e.Kind(), Shard: e.Shard.String(), Before: newCandidate(e.Before), After: newCandidate(e.After),
		})
	}
	return j
}

func (j *serviceChangeJSON) count(k state.ChangeKind) {
	switch k {
	case state.EndpointAdded:
		j.Added++
	case state.EndpointRemoved:
		j.Removed++
	case state.EndpointChanged:
		j.Changed++
	case state.CandidateWaiting:
		j.Waiting++
	}
}

func presence(before, after bool) state.ChangeKind {
	switch {
	case !before:
		return state.EndpointAdded
	case !after:
		return state.EndpointRemoved
	default:
		return state.EndpointChanged
	}
}
