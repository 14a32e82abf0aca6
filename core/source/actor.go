package source

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Actor returns who wrote the object last, by its managed fields: "" if they
// are absent.
func Actor(o metav1.Object) string {
	var last *metav1.ManagedFieldsEntry
	fields := o.GetManagedFields()
	for i := range fields {
		if f := &fields[i]; last == nil || (f.Time != nil && (last.Time == nil || last.Time.Before(f.Time))) {
			last = f
		}
	}
	if last == nil {
		return ""
	}
	return last.Manager
}

// SortClusters orders by cluster ID.
func SortClusters(c []ClusterStatus) {
	slices.SortFunc(c, func(a, b ClusterStatus) int { return strings.Compare(string(a.ID), string(b.ID)) })
}
