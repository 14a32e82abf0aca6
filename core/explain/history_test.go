package explain_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/explain"
	"github.com/edsight/edsight/core/registry"
)

// TestRemembersAll asks about a Pod that was deleted many transitions ago, and that the
// journal still knows.
func TestRemembersAll(t *testing.T) {
	b := newBench(t, registry.Features{})
	b.load(t, readCase(t, "testdata/nothing-wrong.yaml"))
	b.put(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: web-0, namespace: shop}\n$op: delete\n", "Kubernetes")
	b.core.Flush()
	for n := range 1100 {
		b.put(t, fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: other, namespace: shop, labels: {n: '%d'}}\nspec: {clusterIP: 10.96.0.11, ports: [{name: http, port: 80}]}\n", n), "Kubernetes")
		b.core.Flush()
	}
	a := b.explainer.Explain(b.core.Snapshot(), explain.Question{Proxy: "client-0.client", Host: "web.shop.svc.cluster.local", Port: 80, Address: "10.1.1.1"}, nil)
	if a.Cause != explain.PodGone || !strings.Contains(a.Sentence, "(deleted at ") {
		t.Errorf("%s: %s", a.Cause, a.Sentence)
	}
}
