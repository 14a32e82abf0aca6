package archive

import (
	networking "istio.io/client-go/pkg/apis/networking/v1"
	security "istio.io/client-go/pkg/apis/security/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/edsight/edsight/core/model"
)

// newObject returns an empty object of a kind that a snapshot has, or nil.
func newObject(kind model.Kind) metav1.Object {
	switch kind {
	case model.KindServiceEntry:
		return &networking.ServiceEntry{}
	case model.KindWorkloadEntry:
		return &networking.WorkloadEntry{}
	case model.KindWorkloadGroup:
		return &networking.WorkloadGroup{}
	case model.KindSidecar:
		return &networking.Sidecar{}
	case model.KindDestinationRule:
		return &networking.DestinationRule{}
	case model.KindVirtualService:
		return &networking.VirtualService{}
	case model.KindGateway:
		return &networking.Gateway{}
	case model.KindAuthorizationPolicy:
		return &security.AuthorizationPolicy{}
	case model.KindPeerAuthentication:
		return &security.PeerAuthentication{}
	case model.KindService, model.KindEndpointSlice, model.KindEndpoints, model.KindPod,
		model.KindNode, model.KindNamespace, model.KindConfigMap:
		return nil
	case model.KindServiceExport, model.KindServiceImport:
		return &unstructured.Unstructured{}
	}
	return nil
}
