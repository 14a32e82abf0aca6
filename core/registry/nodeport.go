package registry

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"

	"github.com/edsight/edsight/core/model"
)

// nodeAddresses are the external addresses of the nodes which the Service's
// annotation selects; false without the annotation, or if it cannot be read.
func (w *World) nodeAddresses(cluster model.ClusterID, s *corev1.Service) ([]string, bool) {
	text, ok := s.Annotations[model.AnnotationNodeSelector]
	if !ok {
		return nil, false
	}
	var selector model.Labels
	if json.Unmarshal([]byte(text), &selector) != nil {
		return nil, false
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
			}
		}
	}
	return out, true
}

// touchNodePorts has the services compiled whose addresses are those of nodes.
func (w *World) touchNodePorts() {
	for key := range w.nodePorts {
		w.rebuild(key.Namespace, key.Name)
		w.touched.gateways = true
	}
}
