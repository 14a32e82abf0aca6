package kubesource_test

import (
	"slices"
	"testing"
	"time"

	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/test/kubetest"
)

const serviceEntry = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: ext, namespace: shop}
spec:
  hosts: [ext.example.com]
  ports: [{number: 443, name: tls, protocol: TLS}]
  resolution: STATIC
  endpoints: [{address: 192.0.2.1}]
`

func TestClusterTellsWhatIsThereAndWhatChanges(t *testing.T) {
	t.Parallel()
	k := kubetest.Start(t, kubetest.Options{Controllers: true, Istio: true})
	k.Namespace("shop")
	k.Namespace("istio-system")
	k.Node("n1", "z1")
	k.Service("shop", "web")
	for _, name := range []string{"istio", "other"} {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"mesh": ""}}
		if _, err := k.Client.CoreV1().ConfigMaps("istio-system").Create(t.Context(), m, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	k.Apply(k.Parse([]byte(serviceEntry))...)

	c, r := run(t, k.Config())
	r.waitSynced(t)
	if got := keys(c, model.KindConfigMap); !slices.Equal(got, []string{"istio-system/istio"}) {
		t.Errorf("config maps: %v", got)
	}
	r.waitFor(t, source.OpAdd, model.KindNode, "n1")
	entry := r.waitFor(t, source.OpAdd, model.KindServiceEntry, "ext")
	if o, ok := c.Get(entry.Key).(*networkingv1.ServiceEntry); !ok || o.Spec.Hosts[0] != "ext.example.com" {
		t.Errorf("service entry: %v", o)
	}
	if entry.Actor != "kubetest" || entry.Key.Cluster != "Kubernetes" || entry.ResourceVersion == "" {
		t.Errorf("cause of the service entry: %+v", entry)
	}

	k.RunPod(kubetest.Pod{Namespace: "shop", Name: "web-1", Node: "n1", IP: "10.1.0.1", Labels: map[string]string{"app": "web"}})
	r.wait(t, "a running pod", func(*record) bool {
		p, ok := c.Get(model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindPod, Namespace: "shop", Name: "web-1"}).(*corev1.Pod)
		return ok && p.Status.PodIP == "10.1.0.1"
	})
	r.wait(t, "a slice by the controller", func(r *record) bool {
		return slices.ContainsFunc(r.causes, func(c source.Cause) bool {
			return c.Key.Kind == model.KindEndpointSlice && c.Actor == "kube-controller-manager"
		})
	})
	k.DeletePod("shop", "web-1")
	gone := r.waitFor(t, source.OpDelete, model.KindPod, "web-1")
	if o := c.Get(gone.Key); o != nil {
		t.Errorf("a deleted pod is still there: %v", o)
	}
	if st := c.Status(); len(st.Problems) > 0 || !st.Clusters[0].Connected || st.Clusters[0].Sync != "synced" {
		t.Errorf("status: %+v", st)
	}
}

func TestClusterIsSilentAboutWhatItDoesNotRead(t *testing.T) {
	t.Parallel()
	k := kubetest.Start(t, kubetest.Options{})
	k.Namespace("shop")
	k.Node("n1", "z1")
	k.Service("shop", "web")
	k.RunPod(kubetest.Pod{Namespace: "shop", Name: "web-1", Node: "n1", IP: "10.1.0.1"})
	c, r := run(t, k.Config())
	r.waitSynced(t)
	r.forget()
	before := c.Unchanged()

	heartbeat := []byte(`{"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2030-01-01T00:00:00Z"}]}}`)
	annotate := []byte(`{"metadata":{"annotations":{"example.com/irrelevant":"x"}}}`)
	patch := types.StrategicMergePatchType
	core := k.Client.CoreV1()
	_, errNode := core.Nodes().Patch(t.Context(), "n1", patch, heartbeat, metav1.PatchOptions{}, "status")
	_, errPod := core.Pods("shop").Patch(t.Context(), "web-1", patch, annotate, metav1.PatchOptions{})
	_, errNamespace := core.Namespaces().Patch(t.Context(), "shop", patch, annotate, metav1.PatchOptions{})
	service, errService := core.Services("shop").Patch(t.Context(), "web", patch, annotate, metav1.PatchOptions{})
	if errNode != nil || errPod != nil || errNamespace != nil || errService != nil {
		t.Fatal(errNode, errPod, errNamespace, errService)
	}
	told := r.waitFor(t, source.OpUpdate, model.KindService, "web")
	if told.ResourceVersion != service.ResourceVersion {
		t.Errorf("told of version %s, not %s", told.ResourceVersion, service.ResourceVersion)
	}
	eventually(t, c, "three silent updates", func(source.Status) bool { return c.Unchanged() >= before+3 })
	quiet := []string{"n1", "web-1", "shop"} // the API server writes objects of its own
	if n := r.count(func(c source.Cause) bool { return slices.Contains(quiet, c.Key.Name) }); n != 0 {
		t.Errorf("%d causes for nothing", n)
	}
}

func TestClusterSurvivesALostAPIServer(t *testing.T) {
	t.Parallel()
	k := kubetest.Start(t, kubetest.Options{Istio: true})
	k.Namespace("shop")
	k.Service("shop", "web")
	k.Service("shop", "old")
	k.Apply(k.Parse([]byte(serviceEntry))...)
	c, r := run(t, k.Config())
	r.waitSynced(t)
	r.forget()

	k.StopAPIServer()
	lost := eventually(t, c, "the loss", func(st source.Status) bool { return !st.Clusters[0].Connected })
	if lost.Clusters[0].Error == "" || lost.Clusters[0].LastEvent.IsZero() || lost.Clusters[0].Sync != "synced" {
		t.Errorf("status after the loss: %+v", lost.Clusters[0])
	}
	if got := keys(c, model.KindService); !slices.Contains(got, "shop/web") {
		t.Errorf("services after the loss: %v", got)
	}

	k.StartAPIServer()
	start := time.Now()
	k.Service("shop", "new")
	if err := k.Client.CoreV1().Services("shop").Delete(t.Context(), "old", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r.waitFor(t, source.OpAdd, model.KindService, "new")
	r.waitFor(t, source.OpDelete, model.KindService, "old")
	t.Logf("changes after the restart were told within %v", time.Since(start).Round(time.Millisecond))
	back := eventually(t, c, "the return", func(st source.Status) bool { return st.Clusters[0].Connected && len(st.Problems) == 0 })
	if back.Clusters[0].Error != "" || !back.Clusters[0].LastEvent.After(lost.Clusters[0].LastEvent) {
		t.Errorf("status after the return: %+v", back.Clusters[0])
	}
	if got := keys(c, model.KindServiceEntry); !slices.Equal(got, []string{"shop/ext"}) {
		t.Errorf("service entries after the return: %v", got)
	}
	if n := r.count(func(c source.Cause) bool { return c.Op == source.OpDelete && c.Key.Name != "old" }); n != 0 {
		t.Errorf("%d deletions were told that did not happen", n)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.synced != 1 {
		t.Errorf("synced was told %d times", r.synced)
	}
}

func TestClusterReadsKindsThatComeLater(t *testing.T) {
	t.Parallel()
	k := kubetest.Start(t, kubetest.Options{})
	k.Namespace("shop")
	c, r := run(t, k.Config())
	r.waitSynced(t)
	if st := c.Status(); len(st.Problems) > 0 {
		t.Errorf("an absent kind is a problem: %+v", st.Problems)
	}
	k.InstallIstio()
	k.Apply(k.Parse([]byte(serviceEntry))...)
	start := time.Now()
	r.waitFor(t, source.OpAdd, model.KindServiceEntry, "ext")
	t.Logf("told %v after its creation", time.Since(start).Round(time.Millisecond))

	const definition = "serviceentries.networking.istio.io"
	k.RemoveDefinition(definition)
	r.waitFor(t, source.OpDelete, model.KindServiceEntry, "ext")
	r.forget()
	k.InstallIstio()
	k.Apply(k.Parse([]byte(serviceEntry))...)
	r.waitFor(t, source.OpAdd, model.KindServiceEntry, "ext")
	if got := keys(c, model.KindServiceEntry); !slices.Equal(got, []string{"shop/ext"}) {
		t.Errorf("service entries: %v", got)
	}
}

// An API server that accepts requests and does not answer is lost as well.
func TestClusterNoticesASilentAPIServer(t *testing.T) {
	t.Parallel()
	k := kubetest.Start(t, kubetest.Options{})
	k.Namespace("shop")
	c, r := run(t, k.Config())
	r.waitSynced(t)
	k.PauseAPIServer()
	lost := eventually(t, c, "the loss", func(st source.Status) bool { return !st.Clusters[0].Connected })
	if lost.Clusters[0].Error == "" {
		t.Errorf("status: %+v", lost.Clusters[0])
	}
	k.ResumeAPIServer()
	k.Service("shop", "new")
	r.waitFor(t, source.OpAdd, model.KindService, "new")
	eventually(t, c, "the return", func(st source.Status) bool { return st.Clusters[0].Connected })
}

// Edsight may be there before its API server.
func TestClusterWaitsForItsAPIServer(t *testing.T) {
	t.Parallel()
	k := kubetest.Start(t, kubetest.Options{})
	k.Namespace("shop")
	k.StopAPIServer()
	c, r := run(t, k.Config())
	st := eventually(t, c, "the error", func(st source.Status) bool { return st.Clusters[0].Error != "" })
	if cl := st.Clusters[0]; cl.Connected || cl.Sync != "syncing" || !cl.LastEvent.IsZero() {
		t.Errorf("status without API server: %+v", cl)
	}
	k.StartAPIServer()
	r.waitSynced(t)
	if got := keys(c, model.KindNamespace); !slices.Contains(got, "/shop") {
		t.Errorf("namespaces: %v", got)
	}
}
