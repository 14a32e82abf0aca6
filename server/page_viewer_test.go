package server

import (
	"strings"
	"testing"
	"time"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/views"
)

// TestViewerOfService: of what others did to a service, and of what is wrong
// elsewhere, a viewer of its namespace reads nothing.
func TestViewerOfService(t *testing.T) {
	core := coretest.New(t)
	core.Apply(shop)
	core.Apply("apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: foreign-rule, namespace: ops}\nspec: {host: web.shop.svc.cluster.local, subsets: [{name: foreign-subset, labels: {a: b}}]}\n---\n" +
		"apiVersion: v1\nkind: Service\nmetadata: {name: foreign-service, namespace: ops}\nspec: {clusterIP: 10.96.0.77, ports: [{name: http, port: 80}]}\n---" + terminatingWeb1)
	s := New(core, Options{})
	body := seenBy(t, s, "shop", views.ServiceURL(webKey())+".json")
	for want, there := range map[string]bool{`"name":"v2"`: true, "web-abc12": true, "foreign": false} {
		if strings.Contains(body, want) != there {
			t.Errorf("%s should be there: %t; %s", want, there, body)
		}
	}
}

// TestViewerOfTroubles: the problems of the source are for those who read all.
func TestViewerOfTroubles(t *testing.T) {
	core := newFakeCore()
	core.status.Source.Problems = []source.Problem{{Where: "foreign.yaml:1", Message: "is wrong", Since: time.Unix(1, 0)}}
	s := New(core, Options{})
	for namespace, want := range map[string]string{"shop": "", "": "foreign.yaml:1"} {
		r := getRequest(t, "/")
		r = withRecord(r, &record{identity: identity{role: roleViewer, namespaces: []string{namespace}}})
		if namespace == "" {
			r = withRecord(r, &record{identity: identity{role: roleReader}})
		}
		got := ""
		for _, p := range s.chrome(r, core.snap, views.SectionLive, "").Troubles.Problems {
			got += p.Where
		}
		if got != want {
			t.Errorf("a viewer of %q reads %q, not %q", namespace, got, want)
		}
	}
}
