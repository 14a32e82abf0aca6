package ads

import (
	"slices"
	"strings"
	"sync"
	"weak"

	networking "istio.io/api/networking/v1alpha3"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// entry is one cluster of a catalog.
type entry struct {
	cluster *resource
	service model.ServiceKey // zero if it is about none
	// endpoints is nil unless the cluster's come by EDS.
	endpoints *assignment
}

// catalog is a list of clusters by name. It is immutable.
type catalog struct {
	entries []entry
	// first and next chain the entries of a service.
	first map[model.ServiceKey]int32
	next  []int32

	mu sync.Mutex // protects the two below
	// before is the catalog of which the difference is known; it is not held, or all
	// from the first on would be.
	before weak.Pointer[catalog]
	diff   *difference
}

// difference is what changed from one catalog to another.
type difference struct {
	changed []*entry // that came or differ as clusters
	removed []string
	// endpoints are the names whose assignment is another one, came or went.
	endpoints []string
}

func newCatalog(entries []entry) *catalog {
	c := &catalog{entries: entries, first: make(map[model.ServiceKey]int32, len(entries)), next: make([]int32, len(entries))}
	for i := range entries {
		if entries[i].endpoints == nil {
			continue
		}
		key := entries[i].service
		at, ok := c.first[key]
		if !ok {
			at = -1
		}
		c.next[i] = at
		c.first[key] = int32(i)
	}
	return c
}

// with returns the catalog with other entries, which are sorted, for some services.
func (c *catalog) with(services map[model.ServiceKey]struct{}, entries []entry) *catalog {
	out := make([]entry, 0, len(c.entries)+len(entries))
	for _, e := range c.entries {
		if _, ok := services[e.service]; ok {
			continue
		}
		for len(entries) > 0 && entries[0].cluster.name < e.cluster.name {
			out = append(out, entries[0])
			entries = entries[1:]
		}
		out = append(out, e)
	}
	return newCatalog(append(out, entries...))
}

// size is 0 for nil.
func (c *catalog) size() int {
	if c == nil {
		return 0
	}
	return len(c.entries)
}

// find returns the cluster of that name, nil if there is none.
func (c *catalog) find(name string) *entry {
	i, ok := slices.BinarySearchFunc(c.entries, name, func(e entry, name string) int { return strings.Compare(e.cluster.name, name) })
	if !ok {
		return nil
	}
	return &c.entries[i]
}

// has tells whether endpoints of the service are sent.
func (c *catalog) has(key model.ServiceKey) bool {
	_, ok := c.first[key]
	return ok
}

// names calls f with the names of the assignments of a service.
func (c *catalog) names(key model.ServiceKey, f func(string)) {
	at, ok := c.first[key]
	for ok && at >= 0 {
		f(c.entries[at].cluster.name)
		at = c.next[at]
	}
}

// since returns what changed from another catalog, nil being the empty one. The
// last answer is kept, as many streams go the same step.
func (c *catalog) since(before *catalog) *difference {
	from := weak.Make(before)
	c.mu.Lock()
	if c.diff != nil && c.before == from {
		defer c.mu.Unlock()
		return c.diff
	}
	c.mu.Unlock()
	d := c.compare(before)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.before, c.diff = from, d
	return d
}

func (c *catalog) compare(before *catalog) *difference {
	d := &difference{}
	var a []entry
	if before != nil {
		a = before.entries
	}
	b := c.entries
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || (len(a) > 0 && a[0].cluster.name < b[0].cluster.name):
			d.removed = append(d.removed, a[0].cluster.name)
			if a[0].endpoints != nil {
				d.endpoints = append(d.endpoints, a[0].cluster.name)
			}
			a = a[1:]
		case len(a) == 0 || b[0].cluster.name < a[0].cluster.name:
			d.came(&b[0])
			b = b[1:]
		default:
			if !same(a[0].cluster, b[0].cluster) {
				d.changed = append(d.changed, &b[0])
			}
			if a[0].endpoints != b[0].endpoints {
				d.endpoints = append(d.endpoints, b[0].cluster.name)
			}
			a, b = a[1:], b[1:]
		}
	}
	return d
}

func (d *difference) came(e *entry) {
	d.changed = append(d.changed, e)
	if e.endpoints != nil {
		d.endpoints = append(d.endpoints, e.cluster.name)
	}
}

// clusterKey is what the bytes of a cluster depend on; the rest follows from it.
type clusterKey struct {
	name       string
	kind       cds.Type
	definition *model.Service
	rule       *networking.DestinationRule
	mesh       *state.Mesh
	variant    cds.Variant
	grpc       bool
}

// shop makes entries, and shares what is equal among catalogs.
type shop struct {
	clusters    interned[clusterKey, resource]
	assignments interned[eds.View, assignment]
}

// entries makes those of clusters, which are sorted by name. A cluster that cannot
// be serialised is left out and told to refuse.
func (s *shop) entries(clusters []cds.Cluster, mesh *state.Mesh, grpc bool, refuse func(name string, err error)) []entry {
	out := make([]entry, 0, len(clusters))
	for i := range clusters {
		c := &clusters[i]
		r, err := s.cluster(c, mesh, grpc)
		if err != nil {
			refuse(c.Name, err)
			continue
		}
		e := entry{cluster: r}
		if c.Definition != nil {
			e.service = c.Definition.Key
		}
		if c.Type == cds.EDS {
			e.endpoints = s.assignments.get(c.View, func() *assignment { return &assignment{view: c.View} })
		}
		out = append(out, e)
	}
	return out
}

func (s *shop) cluster(c *cds.Cluster, mesh *state.Mesh, grpc bool) (*resource, error) {
	if c.Inline != nil || c.Definition == nil {
		return marshalCluster(c, mesh, grpc) // depends on endpoints, or is one of few
	}
	k := clusterKey{name: c.Name, kind: c.Type, definition: c.Definition, mesh: mesh, variant: c.Variant, grpc: grpc}
	if c.Rule != nil {
		k.rule = c.Rule.Spec
	}
	if r := s.clusters.find(k); r != nil {
		return r, nil
	}
	r, err := marshalCluster(c, mesh, grpc)
	if err != nil {
		return nil, err
	}
	return s.clusters.put(k, r), nil
}

func marshalCluster(c *cds.Cluster, mesh *state.Mesh, grpc bool) (*resource, error) {
	message := c.Message
	if grpc {
		message = c.MessageGRPC
	}
	m, err := message(mesh)
	if err != nil {
		return nil, err
	}
	return marshal(typeCluster, c.Name, m)
}
