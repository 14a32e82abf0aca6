package kubetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
)

// manager is the field manager of what tests apply.
const manager = "kubetest"

// Parse reads the objects of a YAML file of any number of documents.
func (c *Cluster) Parse(content []byte) []*unstructured.Unstructured {
	c.t.Helper()
	var all []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			c.t.Fatalf("parse: %v", err)
		}
		if len(o.Object) > 0 {
			all = append(all, o)
		}
	}
}

// Apply applies objects as `kubectl apply --server-side` does, in order.
func (c *Cluster) Apply(objects ...*unstructured.Unstructured) {
	c.t.Helper()
	c.apply(objects, metav1.ApplyOptions{FieldManager: manager, Force: true})
}

// ApplyDryRun asks the API server to check objects as if they were applied.
func (c *Cluster) ApplyDryRun(objects ...*unstructured.Unstructured) {
	c.t.Helper()
	c.apply(objects, metav1.ApplyOptions{FieldManager: manager, Force: true, DryRun: []string{metav1.DryRunAll}})
}

func (c *Cluster) apply(objects []*unstructured.Unstructured, o metav1.ApplyOptions) {
	c.t.Helper()
	a := c.Applier()
	for _, obj := range objects {
		if _, err := c.resource(a.mapper, obj).Apply(c.t.Context(), obj.GetName(), obj, o); err != nil {
			c.t.Fatalf("apply %s %s: %v", obj.GetKind(), obj.GetName(), err)
		}
	}
}

// Applier writes objects of the kinds that the API server had when it was made.
// What the API server refuses is an error.
type Applier struct {
	c      *Cluster
	mapper meta.RESTMapper
}

// Applier returns one for all kinds that there are.
func (c *Cluster) Applier() *Applier {
	c.t.Helper()
	groups := must(restmapper.GetAPIGroupResources(c.Client.Discovery()))(c.t)
	return &Applier{c: c, mapper: restmapper.NewDiscoveryRESTMapper(groups)}
}

// Apply applies an object.
func (a *Applier) Apply(ctx context.Context, obj *unstructured.Unstructured) error {
	a.c.t.Helper()
	_, err := a.c.resource(a.mapper, obj).Apply(ctx, obj.GetName(), obj, metav1.ApplyOptions{FieldManager: manager, Force: true})
	return err
}

// Delete deletes an object at once.
func (a *Applier) Delete(ctx context.Context, obj *unstructured.Unstructured) error {
	a.c.t.Helper()
	var now int64
	return a.c.resource(a.mapper, obj).Delete(ctx, obj.GetName(), metav1.DeleteOptions{GracePeriodSeconds: &now})
}

func (c *Cluster) resource(mapper meta.RESTMapper, obj *unstructured.Unstructured) dynamic.ResourceInterface {
	c.t.Helper()
	gvk := obj.GroupVersionKind()
	mapping, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		c.t.Fatalf("%s: %v", gvk, err)
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return c.Dynamic.Resource(mapping.Resource).Namespace(obj.GetNamespace())
	}
	return c.Dynamic.Resource(mapping.Resource)
}

// InstallIstio installs Istio's custom resource definitions and waits until the
// API server serves them.
func (c *Cluster) InstallIstio() {
	c.t.Helper()
	dir := must(exec.CommandContext(c.t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "istio.io/api").Output())(c.t)
	path := filepath.Join(string(bytes.TrimSpace(dir)), "kubernetes", "customresourcedefinitions.gen.yaml")
	c.Define(c.Parse(must(os.ReadFile(path))(c.t))...)
}

// Define installs custom resource definitions and waits until the API server
// serves them.
func (c *Cluster) Define(definitions ...*unstructured.Unstructured) {
	c.t.Helper()
	c.Apply(definitions...)
	for _, d := range definitions {
		c.waitServed(d)
	}
}

func (c *Cluster) waitServed(definition *unstructured.Unstructured) {
	c.t.Helper()
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	for _, v := range versions {
		version, ok := v.(map[string]any)
		if !ok || version["served"] != true {
			continue
		}
		name, _, _ := unstructured.NestedString(version, "name")
		client := c.Dynamic.Resource(schema.GroupVersionResource{Group: group, Version: name, Resource: plural})
		err := wait.PollUntilContextTimeout(c.t.Context(), pollEvery, startTimeout, true, func(ctx context.Context) (bool, error) {
			_, err := client.List(ctx, metav1.ListOptions{Limit: 1})
			return err == nil, nil
		})
		if err != nil {
			c.t.Fatalf("%s.%s %s is not served: %v", plural, group, name, err)
		}
	}
}

// RemoveDefinition removes a custom resource definition and all its objects.
func (c *Cluster) RemoveDefinition(name string) {
	c.t.Helper()
	client := c.Dynamic.Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	})
	c.check(client.Delete(c.t.Context(), name, metav1.DeleteOptions{}), "delete definition", name)
	err := wait.PollUntilContextTimeout(c.t.Context(), pollEvery, startTimeout, true, func(ctx context.Context) (bool, error) {
		_, err := client.Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	c.check(err, "wait for the end of definition", name)
}
