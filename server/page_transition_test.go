package server

import (
	"strings"
	"testing"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/state"
	"github.com/edsight/edsight/views"
)

// TestOnlyTheProxyItself: where nothing is pushed to others, a proxy whose own workload
// changed is listed all the same.
func TestOnlyTheProxyItself(t *testing.T) {
	v := newVisitor(t)
	client := strings.NewReplacer("web-1", "client-1", "app: web", "app: client", "10.1.0.1", "10.1.0.60").Replace(podShop)
	v.core.Apply(client)
	tr := v.core.Apply(strings.Replace(client, "version: v1", "version: v2", 1))
	m := twinOf[views.Transition](v, views.TransitionURL(tr.Seq))
	if m.Push.Type != "none" || m.ProxyCount != 1 || m.Proxies[0].ID != "client-1.shop" || !strings.HasPrefix(m.ProxiesNote, "Nothing is pushed to others (the properties of proxy client-1.shop changed)") {
		t.Errorf("the push is %+v, of %d proxies: %q", m.Push, m.ProxyCount, m.ProxiesNote)
	}
	tr = v.core.Apply(strings.Replace(client, "apiVersion", "$op: delete\napiVersion", 1))
	if m = twinOf[views.Transition](v, views.TransitionURL(tr.Seq)); m.ProxyCount != 0 {
		t.Errorf("of a Pod that went %d proxies are listed", m.ProxyCount)
	}
}

// TestEndpointChangeThatWaited says of an address that waited and is not listed any
// more that it went.
func TestEndpointChangeThatWaited(t *testing.T) {
	waits := &model.Candidate{Address: "10.1.0.3", Port: 8080, Reason: model.ReasonPodNotSeen}
	for kind, c := range map[string]state.EndpointChange{
		"gone":    {Before: waits},
		"waiting": {After: waits},
	} {
		m := newEndpointChange(c)
		if m.Kind != kind || (kind == "gone") != (m.After == "not listed any more") || (m.Before != "") != (kind == "gone") {
			t.Errorf("%s: %+v", kind, m)
		}
	}
}
