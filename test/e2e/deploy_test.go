package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source/kube"
	"github.com/edsight/edsight/test/kubetest"
)

const (
	base = "../../deploy/base"
	xds  = "../../deploy/xds"
	name = "edsight" // of the namespace and all in it
)

// kustomization is what is used of the format.
type kustomization struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Resources  []string `json:"resources"`
	Patches    []struct {
		Path string `json:"path"`
	} `json:"patches"`
}

// patched are the kinds for which there are patches, as they say how lists are merged.
var patched = map[string]any{"Deployment": appsv1.Deployment{}, "Service": corev1.Service{}, "NetworkPolicy": networkingv1.NetworkPolicy{}}

// rendered gives the objects of a folder as kubectl kustomize does.
func rendered(t *testing.T, c *kubetest.Cluster, dir string) []*unstructured.Unstructured {
	t.Helper()
	var k kustomization
	if err := yaml.UnmarshalStrict(read(t, dir, "kustomization.yaml"), &k); err != nil {
		t.Fatal(err)
	}
	var all []*unstructured.Unstructured
	for _, r := range k.Resources {
		if filepath.Ext(r) == "" {
			all = append(all, rendered(t, c, filepath.Join(dir, r))...)
			continue
		}
		all = append(all, c.Parse(read(t, dir, r))...)
	}
	for _, p := range k.Patches {
		patch := c.Parse(read(t, dir, p.Path))[0]
		i := slices.IndexFunc(all, func(o *unstructured.Unstructured) bool {
			return o.GetKind() == patch.GetKind() && o.GetNamespace() == patch.GetNamespace() && o.GetName() == patch.GetName()
		})
		if i < 0 {
			t.Fatalf("%s is of no object", p.Path)
		}
		merged, err := strategicpatch.StrategicMergeMapPatch(all[i].Object, patch.Object, patched[patch.GetKind()])
		if err != nil {
			t.Fatalf("%s: %v", p.Path, err)
		}
		all[i].Object = merged
	}
	return all
}

func read(t *testing.T, dir, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestDeployedAccountReadsAllAndMayNotMore(t *testing.T) {
	t.Parallel()
	c := kubetest.Start(t, kubetest.Options{Istio: true})
	c.Namespace("istio-system")
	objects := rendered(t, c, base)
	c.Apply(objects[0]) // the namespace, without which the others cannot be checked
	c.ApplyDryRun(objects...)
	c.Apply(objects...)
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "istio"}, Data: map[string]string{"mesh": ""}}
	if _, err := c.Client.CoreV1().ConfigMaps("istio-system").Create(t.Context(), config, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	source, err := kube.NewMesh(c.ServiceAccountConfig(name, name), kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sink := synced{done: make(chan struct{})}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	go func() { _ = source.Run(ctx, sink) }() // it returns nil at the end of ctx
	select {
	case <-sink.done:
	case <-ctx.Done():
		t.Fatalf("never synced: %+v", source.Status())
	}
	if p := source.Status().Problems; len(p) > 0 {
		t.Errorf("the account may not read all: %+v", p)
	}
	key := model.ObjectKey{Cluster: "Kubernetes", Kind: model.KindConfigMap, Namespace: "istio-system", Name: "istio"}
	if source.Get(key) == nil {
		t.Error("the mesh configuration was not read")
	}
	mayNot(t, c, forbidden...)
}

// right is one to do something with a kind.
type right struct{ verb, group, resource string }

// forbidden is what the account may not do: with deploy/xds it may the first.
var forbidden = []right{
	{"create", "authentication.k8s.io", "tokenreviews"},
	{"create", "authorization.k8s.io", "subjectaccessreviews"},
	{"list", "", "secrets"},
	{"list", "", "configmaps"},
	{"create", "", "secrets"},
	{"create", "", "pods"},
	{"delete", "", "services"},
	{"update", "discovery.k8s.io", "endpointslices"},
	{"create", "networking.istio.io", "serviceentries"},
	{"escalate", "rbac.authorization.k8s.io", "clusterroles"},
	{"create", "", "pods/exec"},
}

// mayNot asks the API server what the account may do beyond reading.
func mayNot(t *testing.T, c *kubetest.Cluster, forbidden ...right) {
	t.Helper()
	for _, f := range forbidden {
		if c.Allowed(name, name, f.verb, f.group, f.resource) {
			t.Errorf("the account may %s %s", f.verb, f.resource)
		}
	}
	if !c.Allowed(name, name, "list", "", "pods") {
		t.Error("the account may not list pods: the question is wrong")
	}
}

// TestDeployedAccountReviewsTokens: with deploy/xds the account may ask whose a token is,
// and nothing else that it may not otherwise.
func TestDeployedAccountReviewsTokens(t *testing.T) {
	t.Parallel()
	c := kubetest.Start(t, kubetest.Options{})
	c.Namespace("istio-system")
	review := func() (kube.User, error) {
		reviewer, err := kube.NewReviewer(c.ServiceAccountConfig(name, name), "istio-ca")
		if err != nil {
			t.Fatal(err)
		}
		answer, err := c.Client.CoreV1().ServiceAccounts(name).CreateToken(t.Context(), name,
			&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{"istio-ca"}}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return reviewer.Review(t.Context(), answer.Status.Token)
	}
	c.Apply(rendered(t, c, base)...)
	mayNot(t, c, forbidden...)
	if _, err := review(); !apierrors.IsForbidden(err) {
		t.Errorf("with deploy/base: %v, want that it is forbidden", err)
	}
	c.Apply(rendered(t, c, xds)...)
	mayNot(t, c, forbidden[1:]...)
	if u, err := review(); err != nil || u.Namespace != name {
		t.Errorf("with deploy/xds: %+v, %v", u, err)
	}
}

// The Pod of the Deployment fits the namespace's restricted security level,
// which the API server enforces.
func TestDeployedPodIsAdmitted(t *testing.T) {
	t.Parallel()
	c := kubetest.Start(t, kubetest.Options{})
	c.Namespace("istio-system")
	for _, dir := range []string{base, xds} {
		objects := rendered(t, c, dir)
		c.Apply(objects...)
		template := podTemplate(t, objects)
		dryRun := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "try", Labels: template.Labels}, Spec: template.Spec}
		if _, err := c.Client.CoreV1().Pods(name).Create(t.Context(), pod, dryRun); err != nil {
			t.Errorf("%s: pod of the deployment: %v", dir, err)
		}
		if !*pod.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem {
			t.Errorf("%s: the root filesystem is writable", dir)
		}
		pod.Spec.SecurityContext = nil
		if _, err := c.Client.CoreV1().Pods(name).Create(t.Context(), pod, dryRun); err == nil {
			t.Errorf("%s: a pod without security context was admitted: nothing is enforced", dir)
		}
	}
}

// The program runs with the arguments of the Deployment, but for ports and files, and
// the rights of its account, and answers the probes.
func TestDeployedProgramBecomesReady(t *testing.T) {
	t.Parallel()
	c := kubetest.Start(t, kubetest.Options{Istio: true})
	c.Namespace("istio-system")
	for _, dir := range []string{base, xds} {
		objects := rendered(t, c, dir)
		c.Apply(objects...)
		becomesReady(t, c, &podTemplate(t, objects).Spec.Containers[0])
	}
}

func becomesReady(t *testing.T, c *kubetest.Cluster, container *corev1.Container) {
	t.Helper()
	account := c.ServiceAccountConfig(name, name)
	// Any certificate will do; the API server's is at hand.
	files := strings.NewReplacer("/etc/edsight/xds/tls.crt", account.CAFile, "/etc/edsight/xds/tls.key", strings.TrimSuffix(account.CAFile, ".crt")+".key")
	port := regexp.MustCompile(`:(\d+)$`)
	args := slices.Clone(container.Args)
	var ports []string
	for i := range args {
		if m := port.FindStringSubmatch(args[i]); m != nil {
			ports = append(ports, m[1])
		}
		args[i] = files.Replace(port.ReplaceAllString(args[i], ":0"))
	}
	p := launch(t, account, c, args...)
	probe := container.ReadinessProbe.HTTPGet
	p.until(t, "ready", func() bool { return p.probe(t.Context(), probe.Path) == nil })
	if err := p.probe(t.Context(), container.LivenessProbe.HTTPGet.Path); err != nil {
		t.Error(err)
	}
	if st := p.status(t).Source; len(st.Problems) > 0 {
		t.Errorf("problems: %+v", st.Problems)
	}
	if !slices.ContainsFunc(container.Ports, func(p corev1.ContainerPort) bool { return p.Name == probe.Port.StrVal }) {
		t.Errorf("the container has no port %s to probe", probe.Port.StrVal)
	}
	for _, port := range container.Ports {
		if !slices.Contains(ports, strconv.Itoa(int(port.ContainerPort))) {
			t.Errorf("nothing listens at port %d, only at %v", port.ContainerPort, ports)
		}
	}
	if p.probe(t.Context(), "/debug/endpointShardz") == nil {
		t.Error("the listener of probes serves the dashboard")
	}
}

func podTemplate(t *testing.T, objects []*unstructured.Unstructured) corev1.PodTemplateSpec {
	t.Helper()
	for _, o := range objects {
		if o.GetKind() != "Deployment" {
			continue
		}
		raw, _, err := unstructured.NestedMap(o.Object, "spec", "template")
		if err != nil {
			t.Fatal(err)
		}
		var template corev1.PodTemplateSpec
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &template); err != nil {
			t.Fatal(err)
		}
		return template
	}
	t.Fatal("there is no Deployment")
	return corev1.PodTemplateSpec{}
}
