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

// differs says what the client has else than it should have, "" if nothing.
func (c *client) differs(want content) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	diff := cmp.Diff(want.clusters, c.clusters) + cmp.Diff(want.endpoints, c.endpoints)
	if diff == "" && len(c.warming) > 0 {
		diff = "clusters wait for their endpoints: " + strings.Join(slices.Sorted(maps.Keys(c.warming)), " ")
	}
	return diff
}
