package kubesource_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/edsight/edsight/core/model"
	"github.com/edsight/edsight/core/source"
	"github.com/edsight/edsight/test/kubetest"
)

const narrowRole = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: narrow, namespace: shop}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: narrow}
rules:
- apiGroups: ["", discovery.k8s.io, networking.istio.io, security.istio.io]
  resources: ["*"]
  verbs: [get, list, watch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: narrow}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: narrow}
subjects: [{kind: ServiceAccount, name: narrow, namespace: shop}]
`

// A kind that may not be read is a problem that names kind and verb; the others
// are read, and so is the kind when the right is given.
func TestClusterReadsTheRestOfAForbiddenKind(t *testing.T) {
	t.Parallel()
	k := kubetest.Start(t, kubetest.Options{})
	k.Namespace("shop")
	k.Node("n1", "z1")
	k.Service("shop", "web")
	wide := k.Parse([]byte(narrowRole))
	narrow := k.Parse([]byte(strings.ReplaceAll(narrowRole, `resources: ["*"]`,
		"resources: [services, pods, namespaces, configmaps, endpointslices]")))
	k.Apply(narrow...)

	c, r := run(t, k.ServiceAccountConfig("shop", "narrow"))
	r.waitSynced(t)
	r.waitFor(t, source.OpAdd, model.KindService, "web")
	st := eventually(t, c, "the problem", func(st source.Status) bool { return len(problemsOf(st, model.KindNode)) > 0 })
	p := problemsOf(st, model.KindNode)[0]
	verb := regexp.MustCompile("cannot (list|watch)") // whichever was asked for last
	if !strings.Contains(p.Message, "nodes") || !verb.MatchString(p.Message) || p.Where != "Kubernetes" || p.Since.IsZero() {
		t.Errorf("problem: %+v", p)
	}
	if !st.Clusters[0].Connected || len(problemsOf(st, model.KindService)) > 0 {
		t.Errorf("status: %+v", st)
	}

	k.Apply(wide...)
	r.waitFor(t, source.OpAdd, model.KindNode, "n1")
	eventually(t, c, "no problem", func(st source.Status) bool { return len(problemsOf(st, model.KindNode)) == 0 })
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.synced != 1 {
		t.Errorf("synced was told %d times", r.synced)
	}
}

func problemsOf(st source.Status, kind model.Kind) []source.Problem {
	var found []source.Problem
	for _, p := range st.Problems {
		if p.Object.Kind == kind {
			found = append(found, p)
		}
	}
	return found
}
