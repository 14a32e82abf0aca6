package kubesource_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/core/source/kube"
	"github.com/edsight/edsight/test/kubetest"
)

const root = "istio-system"

// putSecret writes the Secret of remote clusters, as istioctl does.
func putSecret(t *testing.T, k *kubetest.Cluster, name string, data map[string][]byte) {
	t.Helper()
	secrets := k.Client.CoreV1().Secrets(root)
	s := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"istio/multiCluster": "true"}}, Data: data,
	}
	_, err := secrets.Update(t.Context(), s, metav1.UpdateOptions{})
	if err != nil {
		_, err = secrets.Create(t.Context(), s, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func dropSecret(t *testing.T, k *kubetest.Cluster, name string) {
	t.Helper()
	if err := k.Client.CoreV1().Secrets(root).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// clusterOf is a cluster's status, zero if it is not there.
func clusterOf(st source.Status, id model.ClusterID) source.ClusterStatus {
	for _, c := range st.Clusters {
		if c.ID == id {
			return c
		}
	}
	return source.ClusterStatus{}
}

func has(st source.Status, field, message string) bool {
	for _, p := range st.Problems {
		if p.Field == field && strings.Contains(p.Message, message) {
			return true
		}
	}
	return false
}

func TestMeshNamesSecretsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	k := kubetest.Start(t, kubetest.Options{})
	k.Namespace(root)
	k.Namespace("shop")
	good := k.PortableKubeconfig(k.Config())
	withCommand := strings.Replace(string(good), "token:", "exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: Never}\n    token:", 1)
	putSecret(t, k, "a", map[string][]byte{"east": good, "Kubernetes": good})
	putSecret(t, k, "b", map[string][]byte{"east": good, "west": []byte(withCommand)})
	m, r := runMesh(t, k.Config(), kube.Options{})
	r.waitSynced(t)
	st := m.Status()
	for field, message := range map[string]string{
		"data.Kubernetes": "is ignored: Kubernetes is the cluster",
		"data.west":       "exec, which is refused",
		"data.east":       "is ignored: cluster east is already that of Secret/istio-system/a",
	} {
		if !has(st, field, message) {
			t.Errorf("no problem of %s with %q: %+v", field, message, st.Problems)
		}
	}
	if east := clusterOf(st, "east"); east.SecretName != "istio-system/a" || east.Sync != "synced" || !east.Connected {
		t.Errorf("status of east: %+v", east)
	}
	if len(st.Clusters) != 2 {
		t.Errorf("clusters: %+v", st.Clusters)
	}
	for key := range m.All() {
		if key.Kind == "Secret" || (key.Cluster == "east" && key.Kind == model.KindConfigMap) {
			t.Errorf("%v of %s is among the objects", key, key.Cluster)
		}
	}
	if m.Get(model.ObjectKey{Cluster: "Kubernetes", Kind: "Secret", Namespace: root, Name: "a"}) != nil {
		t.Error("a Secret can be got")
	}

	// The second Secret takes over when the first goes; the objects stay.
	r.forget()
	dropSecret(t, k, "a")
	eventually(t, m, "the other secret", func(st source.Status) bool {
		return clusterOf(st, "east").SecretName == "istio-system/b" && !has(st, "data.east", "")
	})
	if n := r.count(func(c source.Cause) bool { return c.Key.Cluster == "east" && c.Op == source.OpDelete }); n != 0 {
		t.Errorf("%d deletions were told", n)
	}
	dropSecret(t, k, "b")
	eventually(t, m, "the end of east", func(st source.Status) bool { return len(st.Clusters) == 1 && len(st.Problems) == 0 })
	gone := r.waitFor(t, source.OpDelete, model.KindNamespace, "shop")
	if gone.Key.Cluster != "east" || m.Get(gone.Key) != nil {
		t.Errorf("told of the end of %+v", gone.Key)
	}
}

// A remote cluster that cannot be reached delays the others for a bounded time,
// and counts as soon as it answers.
func TestMeshDoesNotWaitForeverForARemoteCluster(t *testing.T) {
	t.Parallel()
	k, far := kubetest.Start(t, kubetest.Options{}), kubetest.Start(t, kubetest.Options{})
	k.Namespace(root)
	far.Namespace("far")
	putSecret(t, k, "far", map[string][]byte{"far": far.PortableKubeconfig(far.Config())})
	far.StopAPIServer()
	const timeout = time.Second
	begin := time.Now()
	m, r := runMesh(t, k.Config(), kube.Options{RemoteTimeout: timeout})
	r.waitSynced(t)
	if took := time.Since(begin); took < timeout || took > timeout+patience/2 {
		t.Errorf("synced after %v", took)
	}
	st := clusterOf(m.Status(), "far")
	if st.Sync != "timeout" || st.Connected || st.Error == "" || st.SecretName != "istio-system/far" {
		t.Errorf("status of the lost cluster: %+v", st)
	}
	if c := clusterOf(m.Status(), "Kubernetes"); c.Sync != "synced" || !c.Connected {
		t.Errorf("status of the config cluster: %+v", c)
	}
	far.StartAPIServer()
	r.waitFor(t, source.OpAdd, model.KindNamespace, "far")
	eventually(t, m, "synced", func(st source.Status) bool { return clusterOf(st, "far").Sync == "synced" })
}

// Without the right to read Secrets there is one problem and one cluster.
func TestMeshWorksWithoutSecrets(t *testing.T) {
	t.Parallel()
	k := kubetest.Start(t, kubetest.Options{})
	k.Namespace(root)
	k.Namespace("shop")
	k.Service("shop", "web")
	k.Apply(k.Parse([]byte(strings.ReplaceAll(narrowRole, `resources: ["*"]`,
		"resources: [services, pods, nodes, namespaces, configmaps, endpointslices]")))...)
	m, r := runMesh(t, k.ServiceAccountConfig("shop", "narrow"), kube.Options{})
	r.waitSynced(t)
	r.waitFor(t, source.OpAdd, model.KindService, "web")
	st := eventually(t, m, "the problem", func(st source.Status) bool { return len(problemsOf(st, "Secret")) == 1 })
	if p := problemsOf(st, "Secret")[0]; !strings.Contains(p.Message, "secrets") || !strings.Contains(p.Message, root) {
		t.Errorf("problem: %+v", p)
	}
}

// Credentials that cannot read take nothing away: those before them stay in use,
// and that is said.
func TestMeshKeepsCredentialsUntilOthersWork(t *testing.T) {
	t.Parallel()
	k, far := kubetest.Start(t, kubetest.Options{}), kubetest.Start(t, kubetest.Options{})
	k.Namespace(root)
	far.Namespace("far")
	far.Apply(far.Parse([]byte(strings.ReplaceAll(strings.ReplaceAll(narrowRole, "shop", "far"), `resources: ["*"]`, "resources: [services]")))...)
	putSecret(t, k, "far", map[string][]byte{"far": far.PortableKubeconfig(far.Config())})
	m, r := runMesh(t, k.Config(), kube.Options{})
	r.waitSynced(t)
	r.forget()
	unknown := rest.CopyConfig(far.Config())
	unknown.BearerToken = "of nobody"
	for _, what := range []string{"unknown", "narrow"} {
		cfg := unknown
		if what == "narrow" {
			cfg = far.ServiceAccountConfig("far", what)
		}
		putSecret(t, k, "far", map[string][]byte{"far": far.PortableKubeconfig(cfg)})
		eventually(t, m, what+" credentials", func(st source.Status) bool {
			return has(st, "data.far", "not in use yet") && clusterOf(st, "far").Sync == "synced"
		})
		far.Namespace("by-" + what)
		r.waitFor(t, source.OpAdd, model.KindNamespace, "by-"+what)
	}
	// With the right to read, they are in use.
	far.Apply(far.Parse([]byte(strings.ReplaceAll(strings.ReplaceAll(narrowRole, "shop", "far"), "security.istio.io", "multicluster.x-k8s.io")))...)
	eventually(t, m, "no problem", func(st source.Status) bool { return len(st.Problems) == 0 })
	if n := r.count(func(c source.Cause) bool { return c.Key.Cluster == "far" && c.Op == source.OpDelete }); n != 0 {
		t.Errorf("%d deletions were told", n)
	}
}
