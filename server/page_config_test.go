package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/source"
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

// TestTroubles: every page says how much is wrong, as it is now; the live page
// says which, and what was mended a short time ago, and a frame brings both anew.
func TestTroubles(t *testing.T) {
	now := time.Unix(1700000000, 0)
	core := newFakeCore()
	s := newTestServer(t, core, Options{Token: testToken, Now: func() time.Time { return now }})
	v := &visitor{s, t, nil}
	badge := func(want string) {
		t.Helper()
		for _, path := range []string{"/", "/wrong", "/services", "/config"} {
			if got := v.part(v.html(path), "trouble-badge"); !strings.Contains(got, want) {
				t.Errorf("%s has the badge %.100q, not %s", path, got, want)
			}
		}
	}
	badge("✗ 2 wrong") // services and slices that are in trouble
	calm := s.troubles(core.snap).Mark
	for i := range 5 {
		core.status.Source.Problems = append(core.status.Source.Problems, source.Problem{
			Where: fmt.Sprintf("a.yaml:%d", i), Message: "is no <object>", Since: now.Add(-time.Duration(i) * time.Minute),
		})
	}
	core.status.Source.Mended = []source.Problem{
		{Where: "old.yaml:1", Until: now.Add(-mendedFor)}, {Where: "new.yaml:1", Message: "is a list", Until: now.Add(-time.Minute)},
	}
	badge("✗ 7 wrong")
	strip, _, _ := strings.Cut(v.part(v.html("/"), "trouble-strip"), "</div>")
	for want, there := range map[string]bool{
		"a.yaml:0": true, "a.yaml:2": true, "a.yaml:3": false, "is no &lt;object&gt;": true, "all 5 problems": true, "new.yaml:1": true, "old.yaml:1": false, "1 min ago": true,
	} {
		if strings.Contains(strip, want) != there {
			t.Errorf("the strip is %q; %q should be there: %t", strip, want, there)
		}
	}
	if s.troubles(core.snap).Mark == calm {
		t.Error("the mark has not changed")
	}
}
