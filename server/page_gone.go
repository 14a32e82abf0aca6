package server

import (
	"cmp"
	"iter"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// likeNames is how many names are offered in place of one that is not there.
const likeNames = 5

// place is something with a name, and where it is found.
type place struct {
	namespace, name string
	link            views.Link
}

// noProxy is the error for a proxy that is not there, or not to be seen: when it
// left, as far as the journal goes back, and who has a name like it.
func (s *Server) noProxy(r *http.Request, snap *state.Snapshot, id string) error {
	e := s.goneProxy(r, snap, id)
	e.Next = append(e.Next, proxiesLike(snap, may(r), id, views.ProxyURL)...)
	return e
}

func (s *Server) goneProxy(r *http.Request, snap *state.Snapshot, id string) *httpError {
	allowed := may(r)
	if pods := s.explainer.Unproxied(snap, id, allowed); len(pods) > 0 {
		return &httpError{Status: http.StatusNotFound, Message: pods[0].Why, Next: []views.Link{{Text: "See " + pods[0].Pod.String(), Href: views.ObjectURL(pods[0].Pod)}}}
	}
	return s.absent("no proxy "+id, func(t *journal.Transition) bool {
		return slices.ContainsFunc(t.Diff.Proxies, func(c state.ProxyChange) bool {
			return c.ID == id && c.Next == nil && allowed(c.Prev.Namespace)
		})
	})
}

// proxiesLike are links to proxies that are called like the ID.
func proxiesLike(snap *state.Snapshot, allowed explain.May, id string, href func(id string) string) []views.Link {
	name, namespace := id, ""
	if i := strings.LastIndexByte(id, '.'); i > 0 {
		name, namespace = id[:i], id[i+1:]
	}
	return like(namespace, name, func(yield func(place) bool) {
		for p := range snap.Proxies() {
			pod := strings.TrimSuffix(p.ID, "."+p.Namespace)
			if allowed(p.Namespace) && !yield(place{p.Namespace, pod, views.Link{Text: p.ID, Href: href(p.ID)}}) {
				return
			}
		}
	})
}

// noService is the error for a service.
func (s *Server) noService(r *http.Request, snap *state.Snapshot, key model.ServiceKey) error {
	allowed := may(r)
	e := s.absent("no service "+key.String(), func(t *journal.Transition) bool {
		return allowed(key.Namespace) && slices.ContainsFunc(t.Diff.Services, func(c state.ServiceChange) bool {
			return c.Key == key && c.Next == nil
		})
	})
	e.Next = append(e.Next, servicesLike(snap, allowed, key, views.ServiceURL)...)
	return e
}

// servicesLike are links to services that are called like the key.
func servicesLike(snap *state.Snapshot, allowed explain.May, key model.ServiceKey, href func(model.ServiceKey) string) []views.Link {
	short := func(k model.ServiceKey) string {
		name, _, _ := strings.Cut(string(k.Hostname), ".")
		return name
	}
	return like(key.Namespace, short(key), func(yield func(place) bool) {
		for svc := range snap.Services() {
			k := svc.Key
			if allowed(k.Namespace) && !yield(place{k.Namespace, short(k), views.Link{Text: k.String(), Href: href(k)}}) {
				return
			}
		}
	})
}

// absent looks for the newest transition with which something went.
func (s *Server) absent(message string, went func(*journal.Transition) bool) *httpError {
	e := &httpError{Status: http.StatusNotFound, Message: message}
	for _, t := range slices.Backward(s.core.Journal().Since(1, math.MaxInt).Transitions) {
		if went(t) {
			at := t.Times.Published
			e.Message += "; it went at " + at.UTC().Format("15:04:05 UTC") + ", " + views.Age(at, s.present())
			e.Next = append(e.Next, views.Link{Text: "See the transition with which it went", Href: views.TransitionURL(t.Seq)})
			break
		}
	}
	return e
}

// like are the places whose names are most like the one that was asked for: the same
// name in another namespace, or one of the same namespace, or of any if none was named,
// that begins with it or shares half.
func like(namespace, name string, places iter.Seq[place]) []views.Link {
	type near struct {
		shared int
		link   views.Link
	}
	var list []near
	for p := range places {
		shared := sharedEnds(p.name, name)
		half := 2*shared >= max(len(p.name), len(name)) || (name != "" && strings.HasPrefix(p.name, name))
		if p.name == name || (half && (p.namespace == namespace || namespace == "")) {
			list = append(list, near{shared, p.link})
		}
	}
	slices.SortStableFunc(list, func(a, b near) int { return cmp.Compare(b.shared, a.shared) })
	var links []views.Link
	for _, n := range list {
		l := views.Link{Text: "Did you mean " + n.link.Text + "?", Href: n.link.Href}
		if len(links) < likeNames && !slices.ContainsFunc(links, func(o views.Link) bool { return o.Href == l.Href }) {
			links = append(links, l)
		}
	}
	return links
}

// sharedEnds counts the bytes that two names have in common at their beginning and
// at their end.
func sharedEnds(a, b string) int {
	n := min(len(a), len(b))
	begin, end := 0, 0
	for begin < n && a[begin] == b[begin] {
		begin++
	}
	for end < n-begin && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return begin + end
}
