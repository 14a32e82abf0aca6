package demo

import (
	_ "embed"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/edsight/edsight/core/source/manifest"
)

//go:embed mesh.yaml
var mesh []byte

// The names under which slices are managed.
const (
	sliceController    = "endpointslice-controller.k8s.io"
	operatorController = "operator.shop.example"
)

// shop lists the workloads.
func shop() []*workload {
	return []*workload{
		{namespace: "edge", app: "gateway", version: "v1", replicas: 2, portName: "http", port: 8080, account: "gateway", gateway: true},
		{namespace: "shop", app: "frontend", version: "v1", replicas: 3, portName: "http", port: 8080, account: "frontend"},
		{namespace: "shop", app: "catalog", version: "v1", replicas: 3, portName: "http", port: 8080, account: "catalog"},
		{namespace: "shop", app: "catalog", version: "v2", replicas: 2, portName: "http", port: 8080, account: "catalog"},
		{namespace: "shop", app: "cart", version: "v1", replicas: 3, portName: "http", port: 8080, account: "cart"},
		{namespace: "shop", app: "checkout", version: "v1", replicas: 3, portName: "grpc", port: 9090, account: "checkout"},
		{namespace: "shop", app: "payment", version: "v1", replicas: 2, portName: "grpc", port: 9090, account: "payment"},
		{namespace: "shop", app: "recommendation", version: "v1", replicas: 2, portName: "http", port: 8080, account: "recommendation"},
		{namespace: "shop", app: "email", version: "v1", replicas: 2, portName: "http", port: 8080, account: "email"},
		{namespace: "shop", app: "billing", version: "v1", replicas: 2, portName: "http", port: 8080, account: "billing"},
		{namespace: "shop", app: "review", version: "v1", replicas: 1, portName: "http", port: 8080, account: "review"},
		{namespace: "data", app: "inventory", version: "v1", replicas: 3, portName: "http", port: 8080, account: "inventory"},
		{namespace: "data", app: "redis", version: "v7", replicas: 2, portName: "redis", port: 6379, account: "redis", stateful: true},
	}
}

// build makes the mesh in which nothing has happened yet.
func (d *Demo) build() error {
	documents, problems := manifest.Decode("mesh.yaml", mesh, clusterID)
	for _, p := range problems {
		return fmt.Errorf("%s: %s %s: %s", p.Where, p.Object, p.Field, p.Message)
	}
	for _, doc := range documents {
		d.cluster.create(doc.Object, shopOperator)
	}
	for _, w := range shop() {
		d.workloads[w.name()] = w
		d.newRevision(w)
		for range w.replicas {
			if err := d.born(w); err != nil {
				return err
			}
		}
	}
	d.mislabel()
	return d.slice()
}

// slice writes the first slices of all Services.
func (d *Demo) slice() error {
	controller := newSliceWriter(d.cluster, endpoints, sliceController)
	operator := newSliceWriter(d.cluster, shopOperator, operatorController)
	services := list(d.cluster, func(*corev1.Service) bool { return true })
	if len(services) == 0 {
		return errors.New("there are no services")
	}
	for _, s := range services {
		switch {
		case len(s.Spec.Selector) > 0:
			d.sliced = append(d.sliced, &sliced{service: s, by: controller})
		case s.Name == "billing":
			d.sliced = append(d.sliced, &sliced{service: beforeRename(s), by: operator})
		}
	}
	for _, s := range d.sliced {
		if err := s.by.reconcile(s.service); err != nil {
			return err
		}
	}
	return nil
}

// beforeRename is the Service as the operator, who keeps its slices, knows it:
// the port has its old name.
func beforeRename(s *corev1.Service) *corev1.Service {
	s = s.DeepCopy()
	s.Spec.Selector = map[string]string{"app": s.Name}
	s.Spec.Ports[0].Name = "http"
	return s
}

// mislabel gives one Pod of catalog a version that is in no subset.
func (d *Demo) mislabel() {
	w := d.workloads["catalog-v2"]
	d.change(podKey(w, w.pods[0]), shopOperator, func(p *corev1.Pod) { p.Labels["version"] = "v2-hotfix" })
}
