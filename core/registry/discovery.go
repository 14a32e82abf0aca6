package registry

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/edsight/edsight/core/model"
)

// discovered tells whether the mesh's discoverySelectors take the namespace of a
// cluster in, by its labels there. Without selectors all are.
func (w *World) discovered(cluster model.ClusterID, namespace string) bool {
	if len(w.selectors) == 0 {
		return true
	}
	var l map[string]string
	if ns := w.objects[model.ObjectKey{Cluster: cluster, Kind: model.KindNamespace, Name: namespace}]; ns != nil {
		l = ns.GetLabels()
	}
	for _, s := range w.selectors {
		if s.Matches(labels.Set(l)) {
			return true
		}
	}
	return false
}

// readSelectors takes the discoverySelectors of the mesh configuration up. If one
// cannot be read none is in force.
func (w *World) readSelectors() {
	w.selectors = nil
	for _, s := range w.mesh.Config.GetDiscoverySelectors() {
		ls := &metav1.LabelSelector{MatchLabels: s.GetMatchLabels()}
		for _, e := range s.GetMatchExpressions() {
			ls.MatchExpressions = append(ls.MatchExpressions, metav1.LabelSelectorRequirement{
				Key: e.GetKey(), Operator: metav1.LabelSelectorOperator(e.GetOperator()), Values: e.GetValues(),
			})
		}
		sel, err := metav1.LabelSelectorAsSelector(ls)
		if err != nil {
			w.selectors = nil
			return
		}
		w.selectors = append(w.selectors, sel)
	}
}
