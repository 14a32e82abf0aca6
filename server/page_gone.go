package server

import (
	"cmp"
	"iter"
	"math"
	"net/http"
	"slices"
	"strings"

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
	allowed := may(r)
	name, namespace := id, ""
	if i := strings.LastIndexByte(id, '.'); i > 0 {
		name, namespace = id[:i], id[i+1:]
	}
	e := s.absent("no proxy "+id, func(t *journal.Transition) bool {
		return slices.ContainsFunc(t.Diff.Proxies, func(c state.ProxyChange) bool {
			return c.ID == id && c.Next == nil && allowed(c.Prev.Namespace)
		})
	})
	e.offer(namespace, name, func(yield func(place) bool) {
		for p := range snap.Proxies() {
			pod := strings.TrimSuffix(p.ID, "."+p.Namespace)
			if allowed(p.Namespace) && !yield(place{p.Namespace, pod, views.Link{Text: p.ID, Href: views.ProxyURL(p.ID)}}) {
				return
			}
		}
	})
	return e
}

// noService is the same for a service.
func (s *Server) noService(r *http.Request, snap *state.Snapshot, key model.ServiceKey) error {
	allowed := may(r)
	short := func(k model.ServiceKey) string {
		name, _, _ := strings.Cut(string(k.Hostname), ".")
		return name
	}
	e := s.absent("no service "+key.String(), func(t *journal.Transition) bool {
		return allowed(key.Namespace) && slices.ContainsFunc(t.Diff.Services, func(c state.ServiceChange) bool {
			return c.Key == key && c.Next == nil
		})
	})
	e.offer(key.Namespace, short(key), func(yield func(place) bool) {
		for svc := range snap.Services() {
			k := svc.Key
			if allowed(k.Namespace) && !yield(place{k.Namespace, short(k), views.Link{Text: k.String(), Href: views.ServiceURL(k)}}) {
				return
			}
		}
	})
	return e
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

// offer adds the places whose names are most like the one that was asked for: the
// same name in another namespace, or one of the same namespace that shares half.
func (e *httpError) offer(namespace, name string, places iter.Seq[place]) {
	type near struct {
		shared int
		link   views.Link
	}
	var list []near
	for p := range places {
		switch shared := sharedEnds(p.name, name); {
		case p.name == name, p.namespace == namespace && 2*shared >= max(len(p.name), len(name)):
			list = append(list, near{shared, p.link})
		}
	}
	slices.SortStableFunc(list, func(a, b near) int { return cmp.Compare(b.shared, a.shared) })
	for _, n := range list[:min(len(list), likeNames)] {
		e.Next = append(e.Next, views.Link{Text: "Did you mean " + n.link.Text + "?", Href: n.link.Href})
	}
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
