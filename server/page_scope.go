package server

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/scope"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// userNames is how many groups of proxies a row names.
const userNames = 4

// newScope shows what a proxy may see.
func newScope(sc *scope.Scope) views.Scope {
	m := views.Scope{Sidecar: keyOrNil(sc.Key.Sidecar), Imports: len(sc.Imports), Excluded: len(sc.Excluded), Namespaces: []views.NamespaceCount{}}
	counts := map[string]int{}
	for i := range sc.Imports {
		counts[sc.Imports[i].Definition.Key.Namespace]++
	}
	for _, ns := range slices.Sorted(maps.Keys(counts)) {
		m.Namespaces = append(m.Namespaces, views.NamespaceCount{Namespace: ns, Services: counts[ns]})
	}
	return m
}

func keyOrNil(k model.ObjectKey) *model.ObjectKey {
	if k == (model.ObjectKey{}) {
		return nil
	}
	return &k
}

// excludedRows are the definitions on the page that are not in use and have the
// text in them.
func excludedRows(sc *scope.Scope, query string, win *window) []views.Excluded {
	list := []views.Excluded{}
	for _, e := range sc.Excluded {
		key, why := e.Definition.Key, e.Why.Text()
		if !strings.Contains(key.String()+" "+why+" "+e.Why.String(), query) || !win.next() {
			continue // on another page, or not asked for
		}
		row := views.Excluded{Service: views.Ref(key), Object: e.Definition.Object, Reason: e.Why.String(), Why: why}
		if e.By != nil {
			row.By = &e.By.Object
		}
		list = append(list, row)
	}
	return list
}

// usersOf groups the proxies by which definition of the service's host they use,
// why, and through what; those that use this one first.
func (s *Server) usersOf(snap *state.Snapshot, svc *state.ServiceState, proxies []scoped) []views.Users {
	groups := map[string]*views.Users{}
	for _, one := range proxies {
		k := one.key
		u := newUsers(s.scopes.Narrow(snap, k, svc.Key.Hostname), svc.Key)
		id := strings.Join([]string{u.Reason, named(u.Uses), named(u.Via)}, " ")
		g := groups[id]
		if g == nil {
			g = &u
			groups[id] = g
		}
		g.Proxies += len(one.proxies)
		switch who := string(k.Type) + "s of " + k.Namespace; {
		case slices.Contains(g.Who, who):
		case len(g.Who) == userNames:
			g.More++
		default:
			g.Who = append(g.Who, who)
		}
	}
	list := make([]views.Users, 0, len(groups))
	for _, id := range slices.Sorted(maps.Keys(groups)) {
		list = append(list, *groups[id])
	}
	slices.SortStableFunc(list, func(a, b views.Users) int {
		return cmp.Or(cmp.Compare(standing(&a), standing(&b)), cmp.Compare(b.Proxies, a.Proxies))
	})
	return list
}

// standing orders users of this definition before those of others, and these
// before those of none.
func standing(u *views.Users) int {
	switch {
	case u.Here:
		return 0
	case u.Uses != nil:
		return 1
	default:
		return 2
	}
}

// newUsers says what the proxies of a scope use for a hostname, or why not the
// definition of the key.
func newUsers(sc *scope.Scope, key model.ServiceKey) views.Users {
	if im := sc.Import(key.Hostname); im != nil {
		return views.Users{
			Uses: &im.Definition.Object, Here: im.Definition.Key == key, Via: keyOrNil(im.Via),
			Reason: im.Why.String(), Why: im.Why.Text(),
		}
	}
	for _, e := range sc.Others(key.Hostname) {
		if e.Definition.Key == key {
			return views.Users{Reason: e.Why.String(), Why: e.Why.Text(), Via: keyOrNil(sc.Key.Sidecar)}
		}
	}
	return views.Users{Reason: "undefined", Why: "no object defines the host"}
}

// bringIn notes in the row of a cluster what brought its host into scope.
func bringIn(row *views.ClusterRow, sc *scope.Scope, key model.ServiceKey) {
	im := sc.Import(key.Hostname)
	if im == nil || im.Definition.Key != key || !strings.HasPrefix(row.Name, "outbound") {
		return // it is the proxy's own, whatever it imports
	}
	if row.Via = keyOrNil(im.Via); im.Why != scope.WhyOnly {
		row.Why = im.Why.Text()
	}
}

// named is the object's name, "" without one.
func named(o *model.ObjectKey) string {
	if o == nil {
		return ""
	}
	return o.String()
}
