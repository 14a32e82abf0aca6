package chaos

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
)

// content is what a client should have: by name the bytes of clusters and of
// assignments.
type content struct{ clusters, endpoints map[string]string }

func contentOf(snap *state.Snapshot, p *model.Proxy) (content, error) {
	out := content{map[string]string{}, map[string]string{}}
	for _, c := range cds.Build(snap, p) {
		m, err := c.Message(snap.Mesh)
		if err != nil {
			return out, err
		}
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			return out, err
		}
		out.clusters[c.Name] = string(b)
		if a := c.Assignment(); a != nil {
			out.endpoints[c.Name] = string(a.Bytes())
		}
	}
	return out, nil
}

// has tells whether the client has what it should have, and waits for nothing.
func (c *client) has(want content) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.warming) == 0 && maps.Equal(want.clusters, c.clusters) && maps.Equal(want.endpoints, c.endpoints)
}

// differs says in what has fails.
func (c *client) differs(want content) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Diff(want.clusters, c.clusters) + cmp.Diff(want.endpoints, c.endpoints) +
		"clusters that wait for their endpoints: " + strings.Join(slices.Sorted(maps.Keys(c.warming)), " ")
}
