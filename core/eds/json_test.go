package eds_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"pgregory.net/rapid"

	"github.com/edsight/edsight/core/eds"
	"github.com/edsight/edsight/core/model"
)

// TestJSONIsThatOfTheMessage holds the JSON written at once against protojson's.
func TestJSONIsThatOfTheMessage(t *testing.T) {
	name := rapid.SampledFrom([]string{"", "a", "web;shop;web;v1;Kubernetes", `<"&\>`, "é\u2028", "\xff", "unix:///x"})
	number := rapid.SampledFrom([]uint32{0, 1, 80, 65535})
	rapid.Check(t, func(r *rapid.T) {
		a := &eds.Assignment{Cluster: name.Draw(r, "cluster")}
		for range rapid.IntRange(0, 3).Draw(r, "localities") {
			l := eds.LocalityEndpoints{
				Locality: model.Locality{Region: name.Draw(r, "region"), Zone: name.Draw(r, "zone"), Subzone: name.Draw(r, "subzone")},
				Priority: number.Draw(r, "priority"), Weight: number.Draw(r, "weight"),
			}
			for range rapid.IntRange(0, 3).Draw(r, "endpoints") {
				l.Endpoints = append(l.Endpoints, eds.LbEndpoint{
					Address: name.Draw(r, "address"), Port: number.Draw(r, "port"), Weight: number.Draw(r, "weight"),
					Health: model.HealthStatus(rapid.IntRange(0, 4).Draw(r, "health")), Workload: name.Draw(r, "workload"),
					TLSMode: name.Draw(r, "tls"), Tunnel: rapid.Bool().Draw(r, "tunnel"), More: rapid.SliceOfN(name, 0, 2).Draw(r, "more"),
				})
			}
			a.Localities = append(a.Localities, l)
		}
		text, err := protojson.Marshal(a.Message())
		if err != nil {
			r.Fatal(err)
		}
		var want, got any
		if err := json.Unmarshal(text, &want); err != nil {
			r.Fatal(err)
		}
		if err := json.Unmarshal(a.AppendJSON(nil, ""), &got); err != nil {
			r.Fatalf("%s: %v", a.AppendJSON(nil, ""), err)
		}
		if d := cmp.Diff(want, got); d != "" {
			r.Fatal(d)
		}
	})
}
