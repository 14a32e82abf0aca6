package ads

import (
	"maps"
	"slices"
	"strconv"
)

// due tells whether there may be something to send of a type.
func (s *stream) due(w *watch) bool {
	return len(w.due) > 0 || !w.started || (w.wild && w.typeURL == typeCluster && (w.shared != s.shared || w.own != s.own))
}

// compose makes the next response of a type, nil if there is nothing to say.
func (s *stream) compose(w *watch) *response {
	if !s.due(w) {
		return nil
	}
	r := &response{delta: s.delta, typeURL: w.typeURL, version: strconv.FormatUint(s.version, 10)}
	if w.wild && w.typeURL == typeCluster {
		s.composeClusters(w, r)
	}
	s.composeNames(w, r)
	if !s.delta && len(r.resources) > 0 && !w.wild && whole(w.typeURL) {
		r.resources = s.all(w)
	}
	if len(r.resources)+len(r.removed) == 0 && (w.started || !w.wild) {
		return nil
	}
	return r
}

// composeClusters adds the clusters that differ from what the client has, in
// state of the world all of them. Endpoints of a cluster that is sent follow in
// any case: the client waits for them with the new cluster.
func (s *stream) composeClusters(w *watch, r *response) {
	if w.started && w.shared == s.shared && w.own == s.own {
		return
	}
	endpoints := s.watch(typeEndpoint)
	differs := false
	for _, step := range [][2]*catalog{{w.shared, s.shared}, {w.own, s.own}} {
		d := step[1].since(step[0])
		differs = differs || len(d.changed)+len(d.removed) > 0
		for _, e := range d.changed {
			if w.initial != nil && w.initial[e.cluster.name] == e.cluster.version {
				continue // it said that it has this
			}
			if endpoints != nil && e.endpoints != nil {
				endpoints.renew(e.cluster.name)
			}
			if s.delta {
				r.resources = append(r.resources, e.cluster)
			}
		}
		if s.delta {
			r.removed = append(r.removed, d.removed...)
		}
	}
	r.removed = append(r.removed, s.unknown(w.initial)...)
	if !s.delta && (differs || !w.started) {
		for _, c := range []*catalog{s.shared, s.own} {
			for i := range c.entries {
				r.resources = append(r.resources, c.entries[i].cluster)
			}
		}
	}
	s.had = nil
	if endpoints == nil && !w.started {
		s.had = w.initial
	}
	w.shared, w.own, w.initial = s.shared, s.own, nil
}

// unknown lists the clusters which a client has from before and should not have.
func (s *stream) unknown(initial map[string]version) []string {
	var out []string
	for name := range initial {
		if s.shared.find(name) == nil && s.own.find(name) == nil {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// composeNames adds what is due by name.
func (s *stream) composeNames(w *watch, r *response) {
	due := w.due
	w.due = nil
	for _, name := range due {
		i, ok := w.names[name]
		if !ok {
			continue // not asked for any more
		}
		have, one := i.version(), s.find(w.typeURL, name)
		switch {
		case one == nil && have != absent:
			have = absent
			if s.delta {
				r.removed = append(r.removed, name)
			}
		case one != nil && one.version != have:
			have = one.version
			r.resources = append(r.resources, one)
		}
		w.names[name] = interest(have)
	}
}

// all gives everything that is asked for by name, in order.
func (s *stream) all(w *watch) []*resource {
	var out []*resource
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
			return routesFor(s.scope, name)
		}
	}
	return nil
}
