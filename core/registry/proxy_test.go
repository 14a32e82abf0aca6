package registry_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edsight/edsight/core/coretest"
	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/registry"
)

// proxyPod is a Pod of one cluster with a spec and a phase.
func proxyPod(cluster, name, spec, phase string) string {
	return fmt.Sprintf(`
$cluster: %s
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: shop, labels: {app: web}}
spec: {nodeName: n1, %s}
status: {phase: %s, podIP: 10.0.0.1, podIPs: [{ip: 10.0.0.1}]}
`, cluster, name, spec, phase)
}

// TestProxiesOfPods are those that are sent what is modelled: sidecars and routers.
func TestProxiesOfPods(t *testing.T) {
	type has struct {
		Type    model.ProxyType
		Version string
		View    []model.NetworkID
		NoHBONE bool
		GRPC    bool
	}
	const env = `env: [{name: ISTIO_META_REQUESTED_NETWORK_VIEW, value: net1}, {name: ISTIO_META_DISABLE_HBONE_SEND, value: 'true'}, {name: ISTIO_META_GENERATOR, value: grpc}]`
	full := func(kind model.ProxyType) *has { return &has{kind, "1.28.2", []model.NetworkID{"net1"}, true, true} }
	container := func(list, args string) string {
		return fmt.Sprintf("%s: [{name: istio-proxy, image: 'proxy/v2:1.28.2', args: [%s], restartPolicy: Always, %s}]", list, args, env)
	}
	for name, c := range map[string]struct {
		spec, phase string
		want        *has
	}{
		"sidecar":                 {container("containers", "proxy, sidecar"), "Running", full(model.Sidecar)},
		"router":                  {container("containers", "proxy, router"), "Running", full(model.Router)},
		"ztunnel":                 {container("containers", "proxy, ztunnel"), "Running", nil},
		"waypoint":                {container("containers", "proxy, waypoint"), "Running", nil},
		"native sidecar":          {container("initContainers", "proxy, sidecar"), "Running", full(model.Sidecar)},
		"native router":           {container("initContainers", "proxy, router"), "Running", full(model.Router)},
		"sidecar by default":      {container("containers", ""), "Running", full(model.Sidecar)},
		"flags in place of roles": {container("containers", "proxy, --domain"), "Running", full(model.Sidecar)},
		"no proxy":                {"containers: [{name: app}]", "Running", nil},
		"finished":                {container("containers", "proxy, sidecar"), "Succeeded", nil},
		"failed":                  {container("initContainers", "proxy, sidecar"), "Failed", nil},
	} {
		t.Run(name, func(t *testing.T) {
			c1 := coretest.New(t)
			c1.Apply(proxyPod("Kubernetes", "web-0", c.spec, c.phase))
			var got *has
			if p := c1.Snapshot().Proxy("web-0.shop"); p != nil {
				got = &has{p.Type, p.Version, p.NetworkView, p.NoHBONE, p.GRPC}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("proxy (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPinnedProxiesGoBefore: of Pods with one name in two clusters that one is the
// proxy which is connected, whatever becomes of the other; the config cluster's if both
// are, or none is.
func TestPinnedProxiesGoBefore(t *testing.T) {
	const sidecar = "containers: [{name: istio-proxy}]"
	pin := func(cluster model.ClusterID) registry.Pinned {
		pod := model.ObjectKey{Cluster: cluster, Kind: model.KindPod, Namespace: "shop", Name: "web-0"}
		return registry.Pinned{Pod: pod, Type: model.Sidecar, Proxy: &model.Proxy{ID: "web-0.shop", Pod: pod, Cluster: cluster, Type: model.Sidecar}}
	}
	c := coretest.New(t)
	check := func(when string, want model.ClusterID, node string) {
		t.Helper()
		c.Flush()
		p := c.Snapshot().Proxy("web-0.shop")
		switch {
		case p == nil && want != "":
			t.Errorf("%s: there is no proxy", when)
		case p != nil && (p.Cluster != want || p.Pod.Cluster != want || p.Node != node):
			t.Errorf("%s: the proxy is %s on %q, want that of %s on %q", when, p.Pod, p.Node, want, node)
		}
	}
	c.Put(proxyPod("Kubernetes", "web-0", sidecar, "Running"))
	c.Put(proxyPod("remote1", "web-0", sidecar, "Running"))
	check("not connected", "Kubernetes", "n1")
	c.Connect(pin("remote1"))
	check("connected", "remote1", "n1")
	c.Put("$op: delete\n" + proxyPod("remote1", "web-0", sidecar, "Running"))
	check("without its Pod", "remote1", "")
	c.Put("$op: delete\n" + proxyPod("Kubernetes", "web-0", sidecar, "Running"))
	check("without any Pod", "remote1", "")
	c.Put(proxyPod("remote2", "web-0", sidecar, "Running"))
	check("beside a third", "remote1", "")
	c.Connect(pin("Kubernetes"))
	check("both connected", "Kubernetes", "")
	c.Disconnect(pin("Kubernetes").Pod)
	check("one is left", "remote1", "")
	c.Disconnect(pin("remote1").Pod)
	check("none is left", "remote2", "n1")
	c.Put("$op: delete\n" + proxyPod("remote2", "web-0", sidecar, "Running"))
	check("nothing is left", "", "")
}

// TestFinishedPodsStayConnected as long as their stream does.
func TestFinishedPodsStayConnected(t *testing.T) {
	c := coretest.New(t)
	pod := model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindPod, Namespace: "shop", Name: "job-0"}
	c.Connect(registry.Pinned{Pod: pod, Type: model.Sidecar})
	c.Apply(proxyPod("Kubernetes", "job-0", "containers: [{name: istio-proxy}]", "Succeeded"))
	if c.Snapshot().Proxy("job-0.shop") == nil {
		t.Error("a connected proxy is gone")
	}
	c.Disconnect(pod)
	c.Flush()
	if p := c.Snapshot().Proxy("job-0.shop"); p != nil {
		t.Errorf("a Pod that finished is the proxy %+v", p)
	}
}
