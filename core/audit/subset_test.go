package audit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/audit"
	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
)

// TestSubsets counts what each subset matches, by rules for the name and for
// wildcards, and leaves other rules out.
func TestSubsets(t *testing.T) {
	core := coretest.New(t)
	core.Apply(shop + slice("web-b", ofWeb, http+"\nendpoints: [{addresses: [10.1.0.2], conditions: {ready: false}}]"))
	for i, spec := range []string{
		`{host: web, subsets: [{name: v1, labels: {version: v1}}, {name: v2, labels: {version: v2}}]}`,
		`{host: "*.shop.svc.cluster.local", subsets: [{name: all}]}`,
		`{host: idle, subsets: [{name: other}]}`,
	} {
		core.Apply(strings.Replace(object("DestinationRule", spec), "name: x", fmt.Sprintf("name: r%d", i), 1))
	}
	snap := core.Snapshot()
	var got []string
	for _, s := range audit.Subsets(snap, snap.Service(model.ServiceKey{Hostname: "web.shop.svc.cluster.local", Namespace: "shop"})) {
		got = append(got, fmt.Sprintf("%s/%s %d/%d/%d", s.Rule.Name, s.Name, s.Ready, s.Endpoints, s.Of))
	}
	if want := "r0/v1 1/1/2, r0/v2 0/0/2, r1/all 1/2/2"; strings.Join(got, ", ") != want {
		t.Errorf("the subsets are %v, not %s", got, want)
	}
}
