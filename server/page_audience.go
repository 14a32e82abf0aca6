package server

import (
	"sync"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// audience counts the proxies by what they may see, and so tells how many of
// them a push goes to. It follows the journal, so that its cost is that of the
// proxies which came or went.
type audience struct {
	scopes *scope.Cache

	mu      sync.Mutex // protects all below
	version uint64     // of the snapshot whose proxies are counted
	config  uint64
	groups  map[scope.Key]int
	// known are the counts of the last transitions that were asked for.
	known [knownCounts]struct {
		seq   uint64
		count int
	}
}

const knownCounts = 4096

// count returns the number of proxies that the push of a transition goes to, by
// the scopes of when it is first asked for.
func (a *audience) count(j *journal.Journal, t *journal.Transition) int {
	switch t.Push.Scope.Type {
	case state.PushNone:
		return 0
	case state.PushFull:
		return t.Next.ProxyCount()
	case state.PushIncremental:
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	known := &a.known[t.Seq%knownCounts]
	if known.seq == t.Seq {
		return known.count
	}
	a.followLocked(j, t)
	known.seq, known.count = t.Seq, 0
	for key, proxies := range a.groups {
		if proxies > 0 && a.usesAny(t.Next, key, t.Push.Scope.Services) {
			known.count += proxies
		}
	}
	return known.count
}

// followLocked counts the proxies up to the transition, if that is newer: by the
// transitions in between, or all of them anew where the configuration changed.
func (a *audience) followLocked(j *journal.Journal, t *journal.Transition) {
	if t.Version <= a.version {
		return
	}
	if a.groups == nil || t.Next.ConfigVersion != a.config {
		a.recountLocked(t.Next)
		return
	}
	for seq := t.Seq - (t.Version - a.version) + 1; seq <= t.Seq; seq++ {
		step := j.Get(seq)
		if step == nil || step.Version != a.version+1 {
			a.recountLocked(t.Next)
			return
		}
		for _, c := range step.Diff.Proxies {
			a.addLocked(t.Next, c.Prev, -1)
			a.addLocked(t.Next, c.Next, 1)
		}
		a.version = step.Version
	}
}

func (a *audience) recountLocked(snap *state.Snapshot) {
	a.version, a.config, a.groups = snap.Version, snap.ConfigVersion, map[scope.Key]int{}
	for p := range snap.Proxies() {
		a.addLocked(snap, p, 1)
	}
}

func (a *audience) addLocked(snap *state.Snapshot, p *model.Proxy, n int) {
	if p == nil {
		return
	}
	a.groups[a.scopes.KeyOf(snap, p)] += n
}

// usesAny tells whether one of the services is what proxies of the key use for
// its hostname.
func (a *audience) usesAny(snap *state.Snapshot, k scope.Key, services []model.ServiceKey) bool {
	for _, key := range services {
		if im := a.scopes.Import(snap, k, key.Hostname); im != nil && im.Definition.Key == key {
			return true
		}
	}
	return false
}

// countKnown returns the count if it is known already, else 0.
func (a *audience) countKnown(t *journal.Transition) int {
	if t.Push.Scope.Type == state.PushFull {
		return t.Next.ProxyCount()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if known := a.known[t.Seq%knownCounts]; known.seq == t.Seq {
		return known.count
	}
	return 0
}

// concerned lists the first proxies that the push of a transition goes to, by
// the scopes of the snapshot.
func (a *audience) concerned(snap *state.Snapshot, p state.PushScope, limit int) []*model.Proxy {
	var list []*model.Proxy
	if p.Type == state.PushNone {
		return nil
	}
	uses := map[scope.Key]bool{}
	for proxy := range snap.Proxies() {
		if len(list) == limit {
			break
		}
		k := a.scopes.KeyOf(snap, proxy)
		used, ok := uses[k]
		if !ok {
			used = p.Type == state.PushFull || a.usesAny(snap, k, p.Services)
			uses[k] = used
		}
		if used {
			list = append(list, proxy)
		}
	}
	return list
}
