package kube

import (
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
)

// maxOwners bounds the owners of Pods that are remembered at a time.
const maxOwners = 1 << 14

// siblings lets the Pods of one owner share memory: most of what they say of
// themselves is their template's.
type siblings struct {
	mu   sync.Mutex // protects last
	last map[types.UID]*corev1.Pod
}

func newSiblings() *siblings { return &siblings{last: map[types.UID]*corev1.Pod{}} }

// strip strips a Pod and shares what equals its last sibling's.
func (s *siblings) strip(p *corev1.Pod) *corev1.Pod {
	p = stripPod(p)
	if len(p.OwnerReferences) == 0 {
		return p
	}
	owner := p.OwnerReferences[0].UID
	s.mu.Lock()
	sibling := s.last[owner]
	if len(s.last) >= maxOwners {
		clear(s.last)
	}
	s.last[owner] = p
	s.mu.Unlock()
	if sibling != nil {
		share(p, sibling)
	}
	return p
}

// share has p use the parts of its sibling that are equal. Both are read-only
// from then on.
func share(p, sibling *corev1.Pod) {
	if maps.Equal(p.Labels, sibling.Labels) {
		p.Labels = sibling.Labels
	}
	if maps.Equal(p.Annotations, sibling.Annotations) {
		p.Annotations = sibling.Annotations
	}
	if equality.Semantic.DeepEqual(p.OwnerReferences, sibling.OwnerReferences) {
		p.OwnerReferences = sibling.OwnerReferences
	}
	if equality.Semantic.DeepEqual(p.Spec.Containers, sibling.Spec.Containers) {
		p.Spec.Containers = sibling.Spec.Containers
	}
	if equality.Semantic.DeepEqual(p.Spec.InitContainers, sibling.Spec.InitContainers) {
		p.Spec.InitContainers = sibling.Spec.InitContainers
	}
	if p.Spec.ServiceAccountName == sibling.Spec.ServiceAccountName {
		p.Spec.ServiceAccountName = sibling.Spec.ServiceAccountName
	}
	if p.Namespace == sibling.Namespace {
		p.Namespace = sibling.Namespace
	}
	if p.GenerateName == sibling.GenerateName {
		p.GenerateName = sibling.GenerateName
	}
}
