package debugz_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edsight/edsight/core/cds"
	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/debugz"
)

// TestConfigDumpJSON: what is written fast is what protobuf gives of the messages.
func TestConfigDumpJSON(t *testing.T) {
	c := coretest.New(t)
	coretest.Mesh{Services: 4, Namespaces: 2, Endpoints: 3}.Fill(c.Store)
	c.Flush()
	snap := c.Snapshot()
	clusters := cds.Build(snap, snap.Proxy("svc-0-0.load-0"))
	for _, endpoints := range []bool{false, true} {
		for _, indent := range []string{"", "  "} {
			t.Run(fmt.Sprintf("endpoints=%t,indent=%q", endpoints, indent), func(t *testing.T) {
				var texts iter.Seq[debugz.Text]
				if endpoints {
					texts = new(debugz.Texts).Of(clusters)
				}
				fast, err := debugz.ConfigDumpJSON(clusters, snap.Mesh, texts)
				if err != nil {
					t.Fatal(err)
				}
				slow, err := debugz.ConfigDump(clusters, snap.Mesh, endpoints)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(written(t, slow, indent), written(t, fast, indent)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func written[T any](t *testing.T, items []T, indent string) any {
	t.Helper()
	var b bytes.Buffer
	if err := debugz.WriteConfigs(&b, slices.Values(items), indent); err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(b.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	return out
}
