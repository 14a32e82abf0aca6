package compare

import (
	"iter"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
)

// Side is a snapshot, with the scopes of its configuration.
type Side struct {
	Snap   *state.Snapshot
	Scopes *scope.Cache
}

// Set is the proxy's view.
func (s Side) Set(p *model.Proxy) Set { return Of(s.clusters(p)) }

func (s Side) clusters(p *model.Proxy) []cds.Cluster {
	return cds.BuildIn(s.Scopes.For(s.Snap, p), s.Snap, p)
}

// Both are the views of a proxy here and one there, without the endpoints of the
// clusters that are made of the same on both sides.
func Both(here, there Side, p, q *model.Proxy) (a, b Set) {
	x, y := here.clusters(p), there.clusters(q)
	return of(x, y), of(y, x)
}

// Proxy says how much the view of a proxy differs. One that only one side has has
// no counts.
type Proxy struct {
	ID          string
	Here, There *model.Proxy
	// Clusters counts those that differ.
	Clusters int
	Counts
}

// Proxies are those whose view differs or that only one side has, by ID. Changed are
// the services that differ at all.
func Proxies(here, there Side, changed map[model.ServiceKey]bool) iter.Seq[Proxy] {
	v := &viewers{sides: [2]Side{here, there}, changed: changed, memo: map[[2]cds.Audience]*Difference{}}
	return func(yield func(Proxy) bool) {
		for p := range here.Snap.Proxies() {
			one := Proxy{ID: p.ID, Here: p, There: there.Snap.Proxy(p.ID)}
			if one.There != nil {
				d := v.difference(one.Here, one.There)
				one.Clusters, one.Counts = len(d.Clusters), d.Counts
			}
			if (one.There == nil || one.Clusters > 0) && !yield(one) {
				return
			}
		}
		for p := range there.Snap.Proxies() {
			if here.Snap.Proxy(p.ID) == nil && !yield(Proxy{ID: p.ID, There: p}) {
				return
			}
		}
	}
}

// viewers compares once what proxies share.
type viewers struct {
	sides   [2]Side
	changed map[model.ServiceKey]bool
	of      [2]map[scope.Key]*cds.Audiences
	memo    map[[2]cds.Audience]*Difference
}

func (v *viewers) difference(here, there *model.Proxy) *Difference {
	key := [2]cds.Audience{v.audience(0, here), v.audience(1, there)}
	d, ok := v.memo[key]
	if !ok {
		d = Sets(v.differing(here, there))
		v.memo[key] = d
	}
	return d
}

func (v *viewers) audience(side int, p *model.Proxy) cds.Audience {
	s := v.sides[side]
	sc := s.Scopes.For(s.Snap, p)
	a := v.of[side][sc.Key]
	if a == nil {
		if v.of[side] == nil {
			v.of[side] = map[scope.Key]*cds.Audiences{}
		}
		a = cds.NewAudiences(sc)
		v.of[side][sc.Key] = a
	}
	return a.Of(p)
}

// differing are the views of both sides without the clusters that are the same for
// certain: those of a service that did not change, built for equal Views.
func (v *viewers) differing(here, there *model.Proxy) (a, b Set) {
	of := func(s Side, p *model.Proxy) []cds.Cluster { return cds.Shared(s.Scopes.For(s.Snap, p), s.Snap, p) }
	one, two := of(v.sides[0], here), of(v.sides[1], there)
	byName := make(map[string]*cds.Cluster, len(two))
	for i := range two {
		byName[two[i].Name] = &two[i]
	}
	same := map[string]bool{}
	for i := range one {
		if o := byName[one[i].Name]; o != nil && v.same(&one[i], o) {
			same[one[i].Name] = true
		}
	}
	return Of(without(one, same)), Of(without(two, same))
}

func (v *viewers) same(a, b *cds.Cluster) bool {
	return a.Type == b.Type && a.View == b.View && !v.changed[a.View.Service]
}

func without(list []cds.Cluster, names map[string]bool) []cds.Cluster {
	out := list[:0]
	for i := range list {
		if !names[list[i].Name] {
			out = append(out, list[i])
		}
	}
	return out
}
