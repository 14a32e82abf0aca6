package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source/kube"
	"github.com/edsight/edsight/test/kubetest"
)

const (
	base = "../../deploy/base"
	name = "edsight" // of the namespace and all in it
)

// rendered gives the objects of deploy/base. Kustomization has nothing but
// resources, so rendering is reading them.
func rendered(t *testing.T, c *kubetest.Cluster) []*unstructured.Unstructured {
	t.Helper()
	var k struct {
		APIVersion string   `json:"apiVersion"`
		Kind       string   `json:"kind"`
		Resources  []string `json:"resources"`
	}
	if err := yaml.UnmarshalStrict(read(t, "kustomization.yaml"), &k); err != nil {
		t.Fatal(err)
	}
	var all []*unstructured.Unstructured
	for _, file := range k.Resources {
		all = append(all, c.Parse(read(t, file))...)
	}
	return all
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(base, file))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestDeployedAccountReadsAllAndMayNotMore(t *testing.T) {
	t.Parallel()
	c := kubetest.Start(t, kubetest.Options{Istio: true})
	c.Namespace("istio-system")
	objects := rendered(t, c)
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
	mayNot(t, c)
}

// mayNot asks the API server what the account may do beyond reading.
func mayNot(t *testing.T, c *kubetest.Cluster) {
	t.Helper()
	forbidden := []struct{ verb, group, resource string }{
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
	for _, f := range forbidden {
		if c.Allowed(name, name, f.verb, f.group, f.resource) {
			t.Errorf("the account may %s %s", f.verb, f.resource)
		}
	}
	if !c.Allowed(name, name, "list", "", "pods") {
		t.Error("the account may not list pods: the question is wrong")
	}
}

// The Pod of the Deployment fits the namespace's restricted security level,
// which the API server enforces.
func TestDeployedPodIsAdmitted(t *testing.T) {
	t.Parallel()
	c := kubetest.Start(t, kubetest.Options{})
	c.Namespace("istio-system")
	objects := rendered(t, c)
	c.Apply(objects...)
	template := podTemplate(t, objects)
	dryRun := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "try", Labels: template.Labels}, Spec: template.Spec}
	if _, err := c.Client.CoreV1().Pods(name).Create(t.Context(), pod, dryRun); err != nil {
		t.Errorf("pod of the deployment: %v", err)
	}
	if !*pod.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem {
		t.Error("the root filesystem is writable")
	}
	pod.Spec.SecurityContext = nil
	if _, err := c.Client.CoreV1().Pods(name).Create(t.Context(), pod, dryRun); err == nil {
		t.Error("a pod without security context was admitted: nothing is enforced")
	}
}

// The program runs with the arguments of the Deployment, but for the ports, and
// the rights of its account, and answers the probes.
func TestDeployedProgramBecomesReady(t *testing.T) {
	t.Parallel()
	c := kubetest.Start(t, kubetest.Options{Istio: true})
	c.Namespace("istio-system")
	objects := rendered(t, c)
	c.Apply(objects...)
	container := podTemplate(t, objects).Spec.Containers[0]
	port := regexp.MustCompile(`:\d+$`)
	args := slices.Clone(container.Args)
	for i := range args {
		args[i] = port.ReplaceAllString(args[i], ":0")
	}
	p := launch(t, c.ServiceAccountConfig(name, name), c, args...)
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
