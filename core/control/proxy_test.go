package control_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
	"github.com/edsight/edsight/core/state"
)

const clientPod = `
apiVersion: v1
kind: Pod
metadata: {name: client-0, namespace: shop, labels: {app: client}}
spec: {containers: [{name: app, image: app}]}
status: {phase: Running, podIP: 10.8.0.1}
`

func TestConnectedProxies(t *testing.T) {
	c := coretest.New(t)
	pod := model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindPod, Namespace: "shop", Name: "client-0"}
	byNode := &model.Proxy{ID: "client-0.shop", Type: model.Sidecar, Namespace: "shop", Cluster: "Kubernetes", Labels: model.Labels{"by": "node"}}
	done := c.Connect(registry.Pinned{Pod: pod, Proxy: byNode})
	select {
	case <-done:
		t.Fatal("said to be published before it is")
	default:
	}
	if tr := c.Flush(); tr.Push.Scope.Type != state.PushNone {
		t.Errorf("a proxy that connects pushes %s", tr.Push.Scope.Type)
	}
	<-done
	if p := c.Snapshot().Proxy("client-0.shop"); p == nil || p.Labels["by"] != "node" {
		t.Errorf("without a Pod the proxy is %+v", p)
	}
	c.Apply(clientPod)
	if p := c.Snapshot().Proxy("client-0.shop"); p == nil || p.Labels["app"] != "client" {
		t.Errorf("with its Pod the proxy is %+v", p)
	}
	c.Apply("$op: delete" + clientPod)
	if p := c.Snapshot().Proxy("client-0.shop"); p == nil {
		t.Error("the proxy is gone with its Pod, though it is connected")
	}
	c.Disconnect(pod)
	c.Flush()
	if p := c.Snapshot().Proxy("client-0.shop"); p != nil {
		t.Errorf("the proxy stays: %+v", p)
	}
}

func TestPushThatIsAskedFor(t *testing.T) {
	c := coretest.New(t)
	if tr := c.Flush(); tr != nil {
		t.Fatalf("a turn without a reason: %+v", tr)
	}
	c.Push()
	if tr := c.Flush(); tr == nil || tr.Push.Scope.Type != state.PushFull || !tr.Push.Again || tr.Push.Triggers[0] != "debug" {
		t.Errorf("the push is %+v", tr)
	}
}

// What only a proxy itself gets is no push to others.
func TestPushToOneProxy(t *testing.T) {
	c := coretest.New(t)
	c.Apply(clientPod)
	c.Connect(registry.Pinned{Pod: model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindPod, Namespace: "shop", Name: "client-0"}, Type: model.Sidecar})
	c.Flush()
	p := c.Apply(strings.ReplaceAll(clientPod, "app: client", "app: other")).Push
	want := "the properties of proxy client-0.shop changed"
	if p.Scope.Type != state.PushNone || !slices.Equal(p.Proxies, []string{"client-0.shop"}) || p.Because != want {
		t.Errorf("the push is %+v", p)
	}
}
