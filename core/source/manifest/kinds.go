package manifest

import (
	"google.golang.org/protobuf/proto"
	networkingv1 "istio.io/client-go/pkg/apis/networking/v1"
	securityv1 "istio.io/client-go/pkg/apis/security/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
)

// blank is an empty object to decode into.
type blank struct {
	object source.Object
	// spec and status are the parts of an Istio object, which are Protobuf
	// messages; nil for the other kinds.
	spec, status proto.Message
}

// newBlank returns an object of the kind, or false if the kind is not read.
// Istio's older versions have the fields of v1.
func newBlank(gvk schema.GroupVersionKind) (blank, bool) {
	switch gvk.Group {
	case "":
		return newCore(gvk)
	case "discovery.k8s.io":
		if gvk.Version == "v1" && gvk.Kind == string(model.KindEndpointSlice) {
			return blank{object: &discoveryv1.EndpointSlice{}}, true
		}
	case "networking.istio.io":
		switch gvk.Version {
		case "v1", "v1beta1", "v1alpha3":
			return newNetworking(model.Kind(gvk.Kind))
		}
	case "multicluster.x-k8s.io":
		switch gvk.Kind {
		case string(model.KindServiceExport), string(model.KindServiceImport):
			return blank{object: &unstructured.Unstructured{}}, true
		}
	case "security.istio.io":
		switch gvk.Version {
		case "v1", "v1beta1":
			return newSecurity(model.Kind(gvk.Kind))
		}
	}
	return blank{}, false
}

func newCore(gvk schema.GroupVersionKind) (blank, bool) {
	if gvk.Version != "v1" {
		return blank{}, false
	}
	switch gvk.Kind {
	case string(model.KindService):
		return blank{object: &corev1.Service{}}, true
	case string(model.KindEndpoints):
		return blank{object: &corev1.Endpoints{}}, true //nolint:staticcheck // read so that it can be said that it is ignored
	case string(model.KindPod):
		return blank{object: &corev1.Pod{}}, true
	case string(model.KindNode):
		return blank{object: &corev1.Node{}}, true
	case string(model.KindNamespace):
		return blank{object: &corev1.Namespace{}}, true
	case string(model.KindConfigMap):
		return blank{object: &corev1.ConfigMap{}}, true
	}
	return blank{}, false
}

func newNetworking(kind model.Kind) (blank, bool) {
	switch kind { //nolint:exhaustive // the kinds of one group
	case model.KindServiceEntry:
		o := &networkingv1.ServiceEntry{}
		return blank{o, &o.Spec, &o.Status}, true
	case model.KindWorkloadEntry:
		o := &networkingv1.WorkloadEntry{}
		return blank{o, &o.Spec, &o.Status}, true
	case model.KindWorkloadGroup:
		o := &networkingv1.WorkloadGroup{}
		return blank{o, &o.Spec, &o.Status}, true
	case model.KindSidecar:
		o := &networkingv1.Sidecar{}
		return blank{o, &o.Spec, &o.Status}, true
	case model.KindDestinationRule:
		o := &networkingv1.DestinationRule{}
		return blank{o, &o.Spec, &o.Status}, true
	case model.KindVirtualService:
		o := &networkingv1.VirtualService{}
		return blank{o, &o.Spec, &o.Status}, true
	case model.KindGateway:
		o := &networkingv1.Gateway{}
		return blank{o, &o.Spec, &o.Status}, true
	}
	return blank{}, false
}

func newSecurity(kind model.Kind) (blank, bool) {
	switch kind { //nolint:exhaustive // the kinds of one group
	case model.KindAuthorizationPolicy:
		o := &securityv1.AuthorizationPolicy{}
		return blank{o, &o.Spec, &o.Status}, true
	case model.KindPeerAuthentication:
		o := &securityv1.PeerAuthentication{}
		return blank{o, &o.Spec, &o.Status}, true
	}
	return blank{}, false
}
