package kube

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/randfill"
)

// Sharing changes nothing of what a Pod says, and nothing of what its siblings
// said before.
func TestSiblingsSayTheSameAsAlone(t *testing.T) {
	t.Parallel()
	s := newSiblings()
	var all, alone []*corev1.Pod
	for seed := range int64(randomObjects) {
		p := &corev1.Pod{}
		randfill.NewWithSeed(seed).NilChance(0.3).NumElements(0, 2).MaxDepth(8).Fill(p)
		if seed%2 == 0 {
			p = fullPod()
			p.Name, p.Spec.HostNetwork = p.Name+string(rune('a'+seed%26)), seed%3 == 0
			if seed%10 == 0 {
				p.Labels["version"], p.Spec.Containers[0].Ports[0].ContainerPort = "v2", 9090
			}
		}
		alone = append(alone, stripPod(p.DeepCopy()))
		all = append(all, s.strip(p))
	}
	if diff := cmp.Diff(alone, all); diff != "" {
		t.Errorf("shared (-alone +shared):\n%s", diff)
	}
}

func TestSiblingsShareTheirTemplate(t *testing.T) {
	t.Parallel()
	s := newSiblings()
	a, b := s.strip(fullPod()), s.strip(fullPod())
	if &a.Spec.Containers[0] != &b.Spec.Containers[0] || &a.OwnerReferences[0] != &b.OwnerReferences[0] {
		t.Error("equal Pods of one owner do not share")
	}
	other := fullPod()
	other.Spec.Containers[0].Ports[0].ContainerPort = 1
	if c := s.strip(other); &c.Spec.Containers[0] == &a.Spec.Containers[0] || c.Spec.Containers[0].Ports[0].ContainerPort != 1 {
		t.Error("different Pods of one owner share")
	}
}
