package registry

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// Between says what differs between two snapshots that need not follow each other,
// nor come from one process: everything is compared by value.
func Between(prev, next *state.Snapshot) *state.Diff {
	a, b := prev.Mesh, next.Mesh
	d := &state.Diff{
		Mesh:     !proto.Equal(a.Config, b.Config) || settings(a) != settings(b),
		Networks: !proto.Equal(a.Networks, b.Networks) || !slices.Equal(prev.Gateways(), next.Gateways()),
	}
	for _, key := range keysOf(prev.Services(), next.Services(), func(s *state.ServiceState) model.ServiceKey { return s.Key }, model.ServiceKey.Compare) {
		if c, differs := serviceBetween(key, prev.Service(key), next.Service(key)); differs {
			d.Services = append(d.Services, c)
		}
	}
	for _, id := range keysOf(prev.Proxies(), next.Proxies(), func(p *model.Proxy) string { return p.ID }, compareStrings) {
		if before, after := prev.Proxy(id), next.Proxy(id); !before.Equal(after) {
			d.Proxies = append(d.Proxies, state.ProxyChange{ID: id, Prev: before, Next: after})
		}
	}
	for _, key := range keysOf(prev.Configs(""), next.Configs(""), func(c state.Config) model.ObjectKey { return c.Key }, model.ObjectKey.Compare) {
		before, was := prev.Config(key)
		after, is := next.Config(key)
		if was != is || !sameObject(before.Object, after.Object) {
			d.Configs = append(d.Configs, key)
		}
	}
	for _, key := range keysOf(prev.Strays(), next.Strays(), func(c *state.Chunk) model.ObjectKey { return c.Source }, model.ObjectKey.Compare) {
		before, was := prev.Stray(key)
		after, is := next.Stray(key)
		if was != is || !slices.EqualFunc(before.Candidates, after.Candidates, sameCandidate) {
			d.Strays = append(d.Strays, key)
		}
	}
	return d
}

// settings are what is not in the messages.
func settings(m *state.Mesh) state.Mesh {
	s := *m
	s.Config, s.Networks = nil, nil
	return s
}

func serviceBetween(key model.ServiceKey, prev, next *state.ServiceState) (state.ServiceChange, bool) {
	if prev == next {
		return state.ServiceChange{}, false
	}
	c := diffService(key, prev, next)
	// Times and empty lists come back from an archive in another form.
	c.Definition = c.Definition && !sameJSON(withoutVersions(prev), withoutVersions(next))
	return c, prev == nil || next == nil || c.Definition || len(c.Endpoints) > 0
}

// sameObject is sameConfig for objects that were decoded in different ways.
func sameObject(a, b metav1.Object) bool {
	return maps.Equal(istioOnly(a.GetLabels()), istioOnly(b.GetLabels())) &&
		maps.Equal(istioOnly(a.GetAnnotations()), istioOnly(b.GetAnnotations())) && sameJSON(specOf(a), specOf(b))
}

// keysOf are the keys on either side, in order.
func keysOf[V any, K comparable](a, b iter.Seq[V], key func(V) K, compare func(a, b K) int) []K {
	set := map[K]struct{}{}
	for _, side := range []iter.Seq[V]{a, b} {
		for v := range side {
			set[key(v)] = struct{}{}
		}
	}
	return sortedKeys(set, compare)
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
