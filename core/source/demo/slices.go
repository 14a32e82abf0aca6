package demo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	discoveryclient "k8s.io/client-go/kubernetes/typed/discovery/v1"
	"k8s.io/endpointslice"
	endpointsliceutil "k8s.io/endpointslice/util"

	"github.com/edsight/edsight/core/model"
)

// maxEndpoints of one slice, as in Kubernetes.
const maxEndpoints = 100

// sliced is a Service whose slices follow the Pods.
type sliced struct {
	service *corev1.Service
	by      *sliceWriter
	planned bool // a reconciliation is planned
}

// sliceWriter runs the reconciler of Kubernetes' EndpointSlice controller.
type sliceWriter struct {
	cluster    *cluster
	reconciler *endpointslice.Reconciler
}

func newSliceWriter(c *cluster, by actor, controller string) *sliceWriter {
	return &sliceWriter{cluster: c, reconciler: endpointslice.NewReconciler(
		client{cluster: c, by: by}, nodeLister{c}, maxEndpoints, endpointsliceutil.NewEndpointSliceTracker(),
		nil, nil, controller, endpointslice.WithPreferSameTrafficDistributionEnabled(true),
	)}
}

// reconcile writes the slices of a Service.
func (w *sliceWriter) reconcile(s *corev1.Service) error {
	existing := list(w.cluster, func(e *discoveryv1.EndpointSlice) bool {
		return e.Namespace == s.Namespace && e.Labels[discoveryv1.LabelServiceName] == s.Name && w.reconciler.ManagedByController(e)
	})
	err := w.reconciler.Reconcile(logr.Discard(), s, w.cluster.pods(s.Namespace, s.Spec.Selector), existing, w.cluster.now())
	if err != nil {
		return fmt.Errorf("reconcile slices of %s/%s: %w", s.Namespace, s.Name, err)
	}
	return nil
}

// How long the controller takes to notice a change.
const (
	noticeLow  = 40 * time.Millisecond
	noticeHigh = 150 * time.Millisecond
)

// podChanged plans the reconciliation of the Services that select the Pod.
func (d *Demo) podChanged(p *corev1.Pod) {
	for _, s := range d.sliced {
		selects := labels.SelectorFromSet(s.service.Spec.Selector).Matches(labels.Set(p.Labels))
		if s.planned || s.service.Namespace != p.Namespace || !selects {
			continue
		}
		s.planned = true
		d.plan.after(d.between(noticeLow, noticeHigh), func() {
			s.planned = false
			if err := s.by.reconcile(s.service); err != nil {
				d.fail(keyOf(s.service), err)
			}
		})
	}
}

// client carries the reconciler's writes into the cluster. Of the API it has what
// the reconciler uses.
type client struct {
	kubernetes.Interface
	cluster *cluster
	by      actor
}

// DiscoveryV1 implements kubernetes.Interface.
func (c client) DiscoveryV1() discoveryclient.DiscoveryV1Interface {
	return discoveryV1{client: c}
}

type discoveryV1 struct {
	discoveryclient.DiscoveryV1Interface
	client client
}

// EndpointSlices implements DiscoveryV1Interface.
func (d discoveryV1) EndpointSlices(namespace string) discoveryclient.EndpointSliceInterface {
	return sliceClient{client: d.client, namespace: namespace}
}

type sliceClient struct {
	discoveryclient.EndpointSliceInterface
	client    client
	namespace string
}

func (s sliceClient) key(name string) model.ObjectKey {
	return model.ObjectKey{Cluster: clusterID, Kind: model.KindEndpointSlice, Namespace: s.namespace, Name: name}
}

// Create implements EndpointSliceInterface.
func (s sliceClient) Create(_ context.Context, e *discoveryv1.EndpointSlice, _ metav1.CreateOptions) (*discoveryv1.EndpointSlice, error) {
	e = ordered(e)
	e.Generation = 1
	s.client.cluster.create(e, s.client.by)
	return e.DeepCopy(), nil
}

// Update implements EndpointSliceInterface.
func (s sliceClient) Update(_ context.Context, e *discoveryv1.EndpointSlice, _ metav1.UpdateOptions) (*discoveryv1.EndpointSlice, error) {
	old, ok := s.client.cluster.store.Get(s.key(e.Name)).(*discoveryv1.EndpointSlice)
	if !ok {
		return nil, s.notFound(e.Name)
	}
	e = ordered(e)
	e.UID, e.CreationTimestamp, e.ManagedFields = old.UID, old.CreationTimestamp, old.ManagedFields
	e.Generation = old.Generation + 1
	s.client.cluster.write(e, s.client.by)
	return e.DeepCopy(), nil
}

// Delete implements EndpointSliceInterface.
func (s sliceClient) Delete(_ context.Context, name string, _ metav1.DeleteOptions) error {
	if !s.client.cluster.store.Delete(s.key(name)) {
		return s.notFound(name)
	}
	return nil
}

func (s sliceClient) notFound(name string) error {
	return apierrors.NewNotFound(discoveryv1.Resource("endpointslices"), name)
}

// ordered returns a copy whose endpoints are in the order of their addresses. The
// reconciler holds them in a set.
func ordered(e *discoveryv1.EndpointSlice) *discoveryv1.EndpointSlice {
	e = e.DeepCopy()
	e.SetGroupVersionKind(discoveryv1.SchemeGroupVersion.WithKind(string(model.KindEndpointSlice)))
	slices.SortFunc(e.Endpoints, func(a, b discoveryv1.Endpoint) int { return slices.Compare(a.Addresses, b.Addresses) })
	return e
}

// nodeLister gives the reconciler its Nodes.
type nodeLister struct{ cluster *cluster }

// List implements NodeLister.
func (n nodeLister) List(s labels.Selector) ([]*corev1.Node, error) {
	return list(n.cluster, func(o *corev1.Node) bool { return s.Matches(labels.Set(o.Labels)) }), nil
}

// Get implements NodeLister.
func (n nodeLister) Get(name string) (*corev1.Node, error) {
	node, ok := n.cluster.store.Get(model.ObjectKey{Cluster: clusterID, Kind: model.KindNode, Name: name}).(*corev1.Node)
	if !ok {
		return nil, apierrors.NewNotFound(corev1.Resource("nodes"), name)
	}
	return node, nil
}
