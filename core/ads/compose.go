package ads

import (
	"maps"
	"slices"
	"strconv"
)

// due tells whether there may be something to send of a type.
func (s *stream) due(w *watch) bool {
	return len(w.due) > 0 || !w.started || s.behind(w)
}

// behind tells whether the client has not all clusters of the stream's place, while
// it wants all.
func (s *stream) behind(w *watch) bool {
	return w.wild && w.typeURL == typeCluster && (w.shared != s.shared || w.own != s.own)
}

// compose makes the next response of a type, nil if there is nothing to say.
func (s *stream) compose(w *watch) *response {
	if !s.due(w) {
		return nil
	}
	r := &response{delta: s.delta, typeURL: w.typeURL, version: strconv.FormatUint(s.version, 10)}
	if s.behind(w) {
		s.composeClusters(w, r)
	}
	if w.wild {
		r.removed = append(r.removed, s.unknown(w)...)
		w.initial = nil
	}
	differs := (w.wild && !w.started) || len(r.resources)+len(r.removed) > 0
	differs = s.composeNames(w, r) || differs
	switch {
	case !differs:
		return nil
	case s.delta:
		return r
	case wildByDefault(w.typeURL):
		r.resources = s.all(w)
	case len(r.resources) == 0:
		return nil // the end of a resource cannot be said
	}
	r.removed = nil
	return r
}

// composeClusters adds the clusters that differ from what the client has. Endpoints of
// a cluster that is sent follow in any case: the client waits for them with the new
// cluster.
func (s *stream) composeClusters(w *watch, r *response) {
	endpoints := s.watch(typeEndpoint)
	for _, step := range [][2]*catalog{{w.shared, s.shared}, {w.own, s.own}} {
		d := step[1].since(step[0])
		for _, e := range d.changed {
			if w.initial != nil && w.initial[e.cluster.name] == e.cluster.version {
				continue // it said that it has this
			}
			if endpoints != nil && e.endpoints != nil {
				endpoints.renew(e.cluster.name)
			}
			r.resources = append(r.resources, e.cluster)
		}
		r.removed = append(r.removed, d.removed...)
	}
	s.had = nil
	if endpoints == nil && !w.started && !s.single {
		s.had = w.initial
	}
	w.shared, w.own = s.shared, s.own
}

// unknown lists what a client has from before and should not have.
func (s *stream) unknown(w *watch) []string {
	var out []string
	for name := range w.initial {
		if s.find(w.typeURL, name) == nil {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// composeNames adds what is due by name, and tells whether anything of it differs
// from what the client has.
func (s *stream) composeNames(w *watch, r *response) bool {
	due := w.due
	w.due = nil
	differs := false
	room := maxEndpoints
	for _, name := range due {
		i, ok := w.names[name]
		if !ok {
			continue // not asked for any more
		}
		if i.version() == 0 && room <= 0 && s.delta && w.typeURL == typeEndpoint {
			w.due = append(w.due, name) // for when these are acknowledged
			continue
		}
		have, one := i.version(), s.find(w.typeURL, name)
		stays := have != parting
		switch {
		case !stays && !w.wild: // it knows what it has
		case one == nil && have != absent:
			have, differs = absent, true
			r.removed = append(r.removed, name)
		case one != nil && one.version != have:
			have, differs = one.version, true
			r.resources = append(r.resources, one)
			room -= one.delta.Len()
			if w.typeURL == typeCluster {
				s.warm(name)
			}
		}
		if stays {
			w.names[name] = interest(have)
		} else {
			w.forget(name)
		}
	}
	if differs && w.wild {
		r.unique() // they may be among the rest
	}
	return differs
}

// warm has the endpoints of a cluster follow it in any case: the client waits for them
// with the new cluster.
func (s *stream) warm(name string) {
	if w := s.watch(typeEndpoint); w != nil {
		if e := s.shared.find(name); e != nil && e.endpoints != nil {
			w.renew(name)
		}
	}
}

// all gives everything that is asked for, in order.
func (s *stream) all(w *watch) []*resource {
	var out []*resource
	if w.wild && w.typeURL == typeCluster {
		for _, c := range []*catalog{s.shared, s.own} {
			for i := range c.entries {
				out = append(out, c.entries[i].cluster)
			}
		}
		return out
	}
	for _, name := range slices.Sorted(maps.Keys(w.names)) {
		if one := s.find(w.typeURL, name); one != nil {
			out = append(out, one)
		}
	}
	return out
}

// find returns the newest resource of a name, nil if there is none.
func (s *stream) find(typeURL, name string) *resource {
	switch typeURL {
	case typeCluster:
		if e := s.shared.find(name); e != nil {
			return e.cluster
		}
		if e := s.own.find(name); e != nil {
			return e.cluster
		}
	case typeEndpoint:
		if e := s.shared.find(name); e != nil && e.endpoints != nil {
			return e.endpoints.of(s.server.core.Snapshot())
		}
	case typeListener:
		if s.node.told.GRPC {
			return listenerFor(s.scope, name)
		}
	case typeRoute:
		if s.node.told.GRPC {
			return routesFor(s.place, s.proxy, name)
		}
	}
	return nil
}
