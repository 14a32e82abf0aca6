package kube

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
)

// kindSecret is read, but no object of the mesh.
const kindSecret model.Kind = "Secret"

// remoteSelector selects the Secrets with kubeconfigs of remote clusters.
const remoteSelector = "istio/multiCluster=true"

// addSecrets reads the Secrets for remote clusters; changed is called when they
// change.
func (c *Cluster) addSecrets(clients kubernetes.Interface, namespace string, changed func()) *kind {
	k := &kind{kind: kindSecret, groupVersion: "v1", resource: "secrets", selector: remoteSelector, changed: changed}
	add(c, k, clients.CoreV1().Secrets(namespace), &corev1.Secret{}, &corev1.SecretList{}, stripSecret)
	return k
}

// wanted is a remote cluster as a Secret describes it.
type wanted struct {
	id     model.ClusterID
	secret model.ObjectKey
	config *rest.Config
	digest [sha256.Size]byte // of the kubeconfig
}

// found is what the Secrets say.
type found struct {
	usable []wanted
	// unusable are the clusters of which only kubeconfigs were found that cannot be
	// used.
	unusable map[model.ClusterID]bool
	problems []source.Problem
}

// names tells whether any Secret names the cluster.
func (f *found) names(id model.ClusterID) bool {
	return f.unusable[id] || slices.ContainsFunc(f.usable, func(w wanted) bool { return w.id == id })
}

func (f *found) problem(secret model.ObjectKey, id model.ClusterID, message string) {
	f.problems = append(f.problems, source.Problem{
		Object: secret, Where: string(secret.Cluster), Field: "data." + string(id), Message: message,
	})
}

// readSecrets finds the remote clusters. If several Secrets name one, the oldest
// counts whose kubeconfig can be used.
func readSecrets(secrets []*corev1.Secret, config model.ClusterID) *found {
	slices.SortFunc(secrets, func(a, b *corev1.Secret) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	f := &found{unusable: map[model.ClusterID]bool{}}
	first := map[model.ClusterID]model.ObjectKey{}
	for _, s := range secrets {
		key := model.ObjectKey{Cluster: config, Kind: kindSecret, Namespace: s.Namespace, Name: s.Name}
		for _, name := range slices.Sorted(maps.Keys(s.Data)) {
			id := model.ClusterID(name)
			if id == config {
				f.problem(key, id, fmt.Sprintf("is ignored: %s is the cluster that this Secret is in", id))
				continue
			}
			cfg, err := parseKubeconfig(s.Data[name])
			other, taken := first[id]
			switch {
			case err != nil:
				f.unusable[id] = true
				f.problem(key, id, err.Error())
			case taken:
				f.problem(key, id, fmt.Sprintf("is ignored: cluster %s is already that of %s", id, other))
			default:
				first[id] = key
				f.usable = append(f.usable, wanted{id: id, secret: key, config: cfg, digest: sha256.Sum256(s.Data[name])})
			}
		}
	}
	return f
}

// since dates the problems: those that were there before keep their time.
func since(problems, before []source.Problem, now time.Time) []source.Problem {
	for i := range problems {
		p := &problems[i]
		p.Since = now
		for _, b := range before {
			if b.Object == p.Object && b.Field == p.Field && b.Message == p.Message {
				p.Since = b.Since
			}
		}
	}
	return problems
}
