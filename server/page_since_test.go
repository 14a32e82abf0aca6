package server

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/views"
)

// sliceOfWeb is a slice of the service web with a port of that name, and its endpoint.
func sliceOfWeb(port, ready string) string {
	return `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-abc12, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: ` + port + `, port: 8080, protocol: TCP}]
endpoints:
- {addresses: [10.1.0.1], conditions: {ready: ` + ready + `}, targetRef: {kind: Pod, name: web-1, namespace: shop}}
`
}

// TestSince of a finding is when it began, whatever changes of its service meanwhile,
// on the page of slices and in the explanation alike.
func TestSince(t *testing.T) {
	core := coretest.New(t)
	v := &visitor{newTestServer(t, core, Options{Token: testToken, Objects: core.Store}), t, core}
	core.Apply(shop)
	core.Apply(sliceOfWeb("http", "true"))
	broken := core.Apply(sliceOfWeb("web", "true"))
	core.Apply(sliceOfWeb("web", "false"))
	core.Apply(sliceOfWeb("web", "true"))
	v.beganWith("web-abc12", broken, false)
	if got := v.explainedSince(); !got.Equal(broken.Times.Seen) {
		t.Errorf("explained since %v, not since transition %d, %v", got, broken.Seq, broken.Times.Seen)
	}
	mended := core.Apply(sliceOfWeb("http", "true"))
	again := core.Apply(sliceOfWeb("other", "true"))
	if mended.Seq == again.Seq {
		t.Fatal("the slice was not mended")
	}
	v.beganWith("web-abc12", again, false)
}

// TestSinceLong: of what has changed often it is only said that it is at least so old.
func TestSinceLong(t *testing.T) {
	core := coretest.New(t)
	v := &visitor{newTestServer(t, core, Options{Token: testToken, Objects: core.Store}), t, core}
	core.Apply(shop)
	changes := []*journal.Transition{core.Apply(sliceOfWeb("web", "true"))}
	for i := range sinceSteps {
		changes = append(changes, core.Apply(sliceOfWeb("web", []string{"false", "true"}[i%2])))
	}
	v.beganWith("web-abc12", changes[1], true)
}

// beganWith wants the finding about the slice to have begun with the transition.
func (v *visitor) beganWith(slice string, want *journal.Transition, atLeast bool) {
	v.t.Helper()
	for _, f := range twinOf[views.Slices](v, "/slices").Findings {
		if f.Object.Name == slice && f.Kind == "unknown-port" {
			if !f.Since.Equal(begin(want.Times)) || f.AtLeast != atLeast {
				v.t.Errorf("it is so since %v (at least: %v), not since transition %d, %v", f.Since, f.AtLeast, want.Seq, want.Times.Seen)
			}
			return
		}
	}
	v.t.Errorf("nothing is found about %s", slice)
}

func (v *visitor) explainedSince() time.Time {
	v.t.Helper()
	m := twinOf[views.Explain](v, "/explain?proxy=web-1.shop&host=web.shop.svc.cluster.local&port=80&address=10.1.0.1")
	for _, s := range m.Steps {
		if s.Verdict == "failed" {
			return s.Since
		}
	}
	v.t.Errorf("no step failed: %s", m.Sentence)
	return time.Time{}
}

// TestPodWithoutProxy: a Pod that is there is not said to be unknown.
func TestPodWithoutProxy(t *testing.T) {
	core := coretest.New(t)
	v := &visitor{newTestServer(t, core, Options{Token: testToken, Objects: core.Store}), t, core}
	core.Apply(shop + `
---
apiVersion: v1
kind: Pod
metadata: {name: client-0, namespace: shop}
spec: {containers: [{name: app}]}
status: {phase: Running, podIP: 10.1.0.40, podIPs: [{ip: 10.1.0.40}]}
`)
	const want = "Pod shop/client-0 exists, but runs neither a sidecar nor a gateway, and is not connected"
	for path, status := range map[string]int{
		"/proxies/client-0.shop": http.StatusNotFound,
		"/explain?proxy=client-0.shop&host=web.shop.svc.cluster.local&port=80":        http.StatusNotFound,
		"/api/v1/explain?proxy=client-0.shop&host=web.shop.svc.cluster.local&port=80": http.StatusNotFound,
		"/search?q=client-0": http.StatusOK,
	} {
		if a := v.get(path, "text/html"); a.StatusCode != status || !strings.Contains(a.body, want) {
			t.Errorf("%s: %d, and does not say %q", path, a.StatusCode, want)
		}
	}
	if a := v.get("/search?q=web-1.shop", "application/json"); strings.Contains(a.body, "is not connected") {
		t.Errorf("a Pod with a proxy is said to have none: %s", a.body)
	}
}
