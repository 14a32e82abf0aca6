package registry

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"

	"github.com/edsight/edsight/core/model"
)

// reachedByNodes tells whether the Service is reached by the ports of nodes that
// its annotation selects.
func reachedByNodes(s *corev1.Service) bool {
	_, ok := s.Annotations[model.AnnotationNodeSelector]
	return ok && s.Spec.Type == corev1.ServiceTypeNodePort
}

// nodeAddresses are the first external addresses of the nodes which the Service's
// annotation selects. One that cannot be read selects all nodes.
func (w *World) nodeAddresses(cluster model.ClusterID, s *corev1.Service) []string {
	var selector model.Labels
	if json.Unmarshal([]byte(s.Annotations[model.AnnotationNodeSelector]), &selector) != nil {
		selector = nil
	}
	var out []string
	for key := range w.byKind[kindIn{model.KindNode, ""}] {
		node, _ := w.objects[key].(*corev1.Node)
		if node == nil || key.Cluster != cluster || !selector.SubsetOf(node.Labels) {
			continue // not a node that the annotation selects
		}
		for _, a := range node.Status.Addresses {
			if a.Type == corev1.NodeExternalIP && a.Address != "" {
				out = append(out, a.Address)
				break
			}
		}
	}
	return out
}

// touchNodePorts has the services compiled whose addresses are those of nodes.
func (w *World) touchNodePorts() {
	for key := range w.nodePorts {
		w.rebuild(key.Namespace, key.Name)
		w.touched.gateways = true
	}
}
