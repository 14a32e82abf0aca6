package server

import (
	"strings"
	"testing"

	"github.com/edsight/edsight/core/coretest"
)

// TestProblems of objects are shown in the list, beside the object and on its own
// page, with what would cure them.
func TestProblems(t *testing.T) {
	core := coretest.New(t)
	core.Apply(shop + "\n---\n" + brokenMesh)
	v := &visitor{newTestServer(t, core, Options{Token: testToken, Objects: core.Store}), t, core}
	page := v.html("/config")
	for _, want := range []string{"spec.subsets[0].labels", "none of the 2 of web.shop.svc.cluster.local has version=v2", "compare the subset", "data.meshNetworks"} {
		if !strings.Contains(v.part(page, "problems"), want) {
			t.Errorf("the problems do not say %q", want)
		}
	}
	if got := v.part(page, "problem-count"); !strings.HasPrefix(got, ">2<") {
		t.Errorf("the count is %.20q, not 2", got)
	}
	if got := v.part(page, "objects"); !strings.Contains(got, "✗ 1 problem") {
		t.Errorf("the rule has no count beside it: %q", got)
	}
	object := v.html("/config/DestinationRule/shop/web")
	if got := v.part(object, "problems"); !strings.Contains(got, "version=v2") || strings.Contains(got, "meshNetworks") {
		t.Errorf("the page of the object has %q", got)
	}
}

const brokenMesh = `
apiVersion: v1
kind: ConfigMap
metadata: {name: istio, namespace: istio-system}
data: {meshNetworks: "networks: [one]"}
`
